internal import AssayCore
internal import AssayKit

/// The store of an engine, which tells the watch over the clock when entries are missing because a clock was ahead.
struct WatchedStore: StateStore {
    /// The store, which never blocks its caller.
    let store: any StateStore
    let watch: ClockWatch

    /// A host whose store is watched, and never blocks its caller.
    static func host(_ host: PluginHost) -> PluginHost {
        guard !(host.store is WatchedStore) else { return host }
        var host = PooledStore.host(host)
        host.store = WatchedStore(store: host.store, watch: ClockWatch(host))
        return host
    }

    var blockingReason: String? { store.blockingReason }

    var neverBlocks: Bool { true }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        let refused = try await store.commit(changes)
        if let refused, changes.indices.contains(refused), case .insert(let key, _, _, _) = changes[refused],
            try await store.get(key) == nil
        {
            watch.noteMissing()
        }
        return refused
    }

    func get(_ key: StateKey) async throws -> [UInt8]? { try await store.get(key) }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await store.list(space, after: name, limit: limit)
    }
}
