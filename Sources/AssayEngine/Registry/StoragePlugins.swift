internal import AssayCore
internal import AssayHosting
internal import AssayState

/// A store with erased types.
struct StorePlugin: Sendable {
    let descriptor: StorageDescriptor
    let typeName: String
    let open: @Sendable (String, HostClock) async throws(StateStoreOpeningError) -> any StateStorePlugin
    let copy: @Sendable (String, String, [StateKey: [UInt8]]) async throws(StateStoreOpeningError) -> Void
    let examine: @Sendable (String) async throws(StateStoreOpeningError) -> StateStoreFindings
    let migrate: @Sendable (String) async throws(StateStoreOpeningError) -> String

    init<S: StateStorePlugin>(_ type: S.Type) {
        descriptor = S.descriptor
        typeName = "\(type)"
        open = { (location, clock) async throws(StateStoreOpeningError) in try await S.open(location, clock: clock) }
        copy = { (location, path, entries) async throws(StateStoreOpeningError) in
            try await S.copy(location, to: path, adding: entries)
        }
        examine = { (location) async throws(StateStoreOpeningError) in try await S.examine(location) }
        migrate = { (location) async throws(StateStoreOpeningError) in try await S.migrate(location) }
    }
}

/// A sink for decisions with erased types.
struct SinkPlugin: Sendable {
    let descriptor: StorageDescriptor
    let typeName: String
    let open: @Sendable (String, StorageHost) async throws(DecisionSinkError) -> any DecisionSinkPlugin

    init<S: DecisionSinkPlugin>(_ type: S.Type) {
        descriptor = S.descriptor
        typeName = "\(type)"
        open = { (location, host) async throws(DecisionSinkError) in try await S.open(location, host: host) }
    }
}

/// A key vault with erased types.
struct VaultPlugin: Sendable {
    let descriptor: StorageDescriptor
    let typeName: String
    let usesState: Bool
    let open: @Sendable (String, StorageHost) async throws(KeyVaultError) -> any KeyVaultPlugin

    init<V: KeyVaultPlugin>(_ type: V.Type) {
        usesState = V.usesState
        descriptor = V.descriptor
        typeName = "\(type)"
        open = { (location, host) async throws(KeyVaultError) in try await V.open(location, host: host) }
    }
}
