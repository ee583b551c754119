internal import AssayCore
internal import AssayEngine
internal import AssayHTTPClient
internal import AssayKit
internal import AssayServer
internal import AssayServices
internal import Logging

/// The place of the keys for a command that ends soon.
enum KeyPlace {
    /// Opens the place that `--keys` names, or the folder that belongs to the state, and closes it at the end.
    ///
    /// - Throws: ``KeyError``, or what the work throws.
    static func with<Value>(
        _ name: String?, forState state: String, _ body: (OpenKeys) async throws -> Value
    ) async throws -> Value {
        let registry = try AssayProgram.current.registry()
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        let name = try name ?? KeyFolder.standard(forState: state, among: AssayProgram.current.stores)
        return try await withHost(for: name, registry, state: state, logger) { host in
            let keys = try await registry.openKeys(name, host: host)
            let value: Value
            do {
                value = try await body(keys)
            } catch {
                await keys.close()
                throw error
            }
            await keys.close()
            return value
        }
    }

    /// Opens the vault of the state that `--keys` names, with its master key.
    static func withStateVault<Value>(
        _ name: String?, forState state: String, _ body: (StateKeyVault, StorageHost) async throws -> Value
    ) async throws -> Value {
        let registry = try AssayProgram.current.registry()
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        let scheme = "\(StateKeyVault.descriptor.scheme):"
        guard let name, let location = name.dropping(prefix: scheme) else {
            throw KeyVaultError("only keys in the state have a master key: expected --keys state:MASTERKEY")
        }
        return try await withHost(for: name, registry, state: state, logger) { host in
            let vault = try await StateKeyVault.open(location, host: host)
            do {
                let value = try await body(vault, host)
                await vault.close()
                return value
            } catch {
                await vault.close()
                throw error
            }
        }
    }

    /// Opens what the place of keys with a name needs: the state store, or a client for calls to other servers.
    private static func withHost<Value>(
        for name: String, _ registry: Registry, state: String, _ logger: Logger,
        _ body: (StorageHost) async throws -> Value
    ) async throws -> Value {
        if registry.keysUseState(name) {
            return try await registry.withStore(state) { store in
                try await body(StorageHost(logger: logger, state: store))
            }
        }
        // Vaults beside those of the kernel may call other servers.
        guard registry.vaultDescriptors.count > 2 else { return try await body(StorageHost(logger: logger)) }
        let client = try HTTPClientService()
        do {
            let value = try await body(StorageHost(http: client, logger: logger))
            await client.shutDown()
            return value
        } catch {
            await client.shutDown()
            throw error
        }
    }
}
