import AssayCore
import AssayKit

/// A state store that does not take entries whose names begin in a certain way.
struct RejectingStore: StateStore {
    struct Rejection: Error {}

    private let store: any StateStore
    private let prefix: String

    init(_ store: any StateStore, rejecting prefix: String) {
        self.store = store
        self.prefix = prefix
    }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        for case .insert(let key, _, _, _) in changes where key.name.hasPrefix(prefix) { throw Rejection() }
        return try await store.commit(changes)
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try await store.get(key)
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        if key.name.hasPrefix(prefix) { throw Rejection() }
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await store.list(space, after: name, limit: limit)
    }
}
