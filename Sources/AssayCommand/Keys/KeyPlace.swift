internal import AssayCore
internal import AssayEngine
internal import AssayHTTPClient
internal import AssayKeys
internal import AssayKit
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
        let name = try name ?? KeyFolder.standard(forState: state)
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

    /// Decides whether a server may make the first keys, and says so; nothing happens where there are keys.
    ///
    /// An empty place that servers share, or beside a state that they share, may be the wrong one, or one that has lost its
    /// keys.
    ///
    /// - Parameter isAsked: whether the operator asked for new keys.
    /// - Throws: ``KeyError`` when keys are missing that nobody asked for, or are there although new ones were asked for.
    static func prepareFirstKeys(
        _ keys: OpenKeys, isAsked: Bool, state: StorageDescriptor?, logger: Logger
    ) throws(KeyError) {
        if try keys.store.hasKeys {
            guard !isAsked else {
                throw KeyError(
                    "there are keys already in \(keys.name): start without --new-keys, which is for the first start only"
                )
            }
            return
        }
        guard isAsked || (!keys.isInVault && state?.sharing != .servers) else {
            let program = AssayProgram.current.name
            throw KeyError(
                "there are no keys in \(keys.name), and servers share \(keys.isInVault ? "it" : "the state"): it may be the wrong place, or "
                    + "one that has lost its keys. If the service has had keys, name the right place or restore them: new ones shut out "
                    + "every device that was attested before. For a new service, make them once with `\(program) keys init`, or start one "
                    + "server with --new-keys")
        }
        keys.store.allowFirstKeys()
        logger.warning(
            "there are no keys: the first ones are made; back them up, since no device that was attested works without them",
            metadata: ["keys": "\(keys.name)"])
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
