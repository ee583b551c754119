internal import AssayCore
internal import AssayKit
internal import AssayState

/// A store that may block its caller, called on the threads that the process shares: the thread of a call may be one
/// that connections are read on.
struct PooledStore: StateStore {
    /// The store as it was given.
    let store: any StateStore

    /// A host whose store never blocks its caller.
    static func host(_ host: PluginHost) -> PluginHost {
        var host = host
        if !host.store.neverBlocks { host.store = PooledStore(store: host.store) }
        return host
    }

    var blockingReason: String? { store.blockingReason }

    var neverBlocks: Bool { true }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { try await store.commit(changes) }
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try await withTaskExecutorPreference(globalConcurrentExecutor) { try await store.get(key) }
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await store.put(key, value: value, expires: expires)
        }
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await withTaskExecutorPreference(globalConcurrentExecutor) {
            try await store.list(space, after: name, limit: limit)
        }
    }
}
