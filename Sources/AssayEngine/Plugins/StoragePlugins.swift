package import AssayCore
package import AssayKit

/// What an operator chooses by its scheme.
package protocol StoragePlugin: Sendable {
    var descriptor: StorageDescriptor { get }
}

extension Dictionary where Key == ExactText, Value: StoragePlugin {
    /// The one with this scheme or alias, in a dictionary by schemes.
    package func chosen(by scheme: String) -> Value? {
        self[scheme] ?? values.first { $0.descriptor.aliases.contains(exactly: scheme) }
    }
}

/// A store with erased types.
package struct StorePlugin: StoragePlugin {
    package let descriptor: StorageDescriptor
    let typeName: String
    package let open: @Sendable (String, StorageHost) async throws(StateStoreOpeningError) -> any StateStorePlugin
    package let copy: @Sendable (String, String, [StateKey: [UInt8]]) async throws(StateStoreOpeningError) -> Void
    package let examine: @Sendable (String) async throws(StateStoreOpeningError) -> StateStoreFindings
    package let migrate: @Sendable (String) async throws(StateStoreOpeningError) -> String

    init<S: StateStorePlugin>(_ type: S.Type) {
        descriptor = S.descriptor
        typeName = "\(type)"
        open = { (location, host) async throws(StateStoreOpeningError) in try await S.open(location, host: host) }
        copy = { (location, path, entries) async throws(StateStoreOpeningError) in
            try await S.copy(location, to: path, adding: entries)
        }
        examine = { (location) async throws(StateStoreOpeningError) in try await S.examine(location) }
        migrate = { (location) async throws(StateStoreOpeningError) in try await S.migrate(location) }
    }
}

/// A sink for decisions with erased types.
package struct SinkPlugin: StoragePlugin {
    package let descriptor: StorageDescriptor
    let typeName: String
    package let open: @Sendable (String, StorageHost) async throws(DecisionSinkError) -> any DecisionSinkPlugin

    init<S: DecisionSinkPlugin>(_ type: S.Type) {
        descriptor = S.descriptor
        typeName = "\(type)"
        open = { (location, host) async throws(DecisionSinkError) in try await S.open(location, host: host) }
    }
}

/// A key vault with erased types.
package struct VaultPlugin: StoragePlugin {
    package let descriptor: StorageDescriptor
    let typeName: String
    package let usesState: Bool
    package let open: @Sendable (String, StorageHost) async throws(KeyVaultError) -> any KeyVaultPlugin

    package init<V: KeyVaultPlugin>(_ type: V.Type) {
        usesState = V.usesState
        descriptor = V.descriptor
        typeName = "\(type)"
        open = { (location, host) async throws(KeyVaultError) in try await V.open(location, host: host) }
    }
}
