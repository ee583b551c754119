internal import AssayCore
internal import AssayKit

/// A store that may block its caller, called on a few threads of its own: connections are read on the thread of a call,
/// and everything else of the process runs on a few more.
struct PooledStore: StateStore {
    /// The store as it was given.
    let store: any StateStore
    private let executor: CallExecutor

    /// So many operations may block at once.
    private static let threadCount = 8

    private init(_ store: any StateStore) {
        self.store = store
        executor = CallExecutor(WorkerThreads(count: Self.threadCount, waiting: .max / 2)) { _ in }
    }

    /// A host whose store never blocks its caller.
    static func host(_ host: PluginHost) -> PluginHost {
        var host = host
        if !host.store.neverBlocks { host.store = PooledStore(host.store) }
        return host
    }

    var blockingReason: String? { store.blockingReason }

    var neverBlocks: Bool { true }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        try await withTaskExecutorPreference(executor) { try await store.commit(changes) }
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try await withTaskExecutorPreference(executor) { try await store.get(key) }
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await withTaskExecutorPreference(executor) {
            try await store.put(key, value: value, expires: expires)
        }
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await withTaskExecutorPreference(executor) {
            try await store.list(space, after: name, limit: limit)
        }
    }
}
