internal import AssayCore
internal import AssayEngine
internal import AssayHTTPClient
internal import AssayState
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
        let name = name ?? KeyFolder.standard(forState: state)
        // Vaults beside the folder may call other servers.
        guard registry.vaultDescriptors.count > 1 else {
            return try await body(try await registry.openKeys(name, host: StorageHost(logger: logger)))
        }
        let client = try HTTPClientService()
        do {
            let keys = try await registry.openKeys(name, host: StorageHost(http: client, logger: logger))
            let value: Value
            do {
                value = try await body(keys)
            } catch {
                await keys.close()
                throw error
            }
            await keys.close()
            await client.shutDown()
            return value
        } catch {
            await client.shutDown()
            throw error
        }
    }
}
