internal import AssayCore
internal import AssayKit

extension PluginGuard {
    /// Whether a namespace of the state store is the plugin's.
    func owns(_ space: String) -> Bool {
        let (own, space) = (name.utf8, space.utf8)
        return space.starts(with: own)
            && (space.count == own.count || space.dropFirst(own.count).first == UInt8(ascii: "/"))
    }
}

/// The state store as a plugin gets it: its own namespaces only, a few writes in each call, and none of its threads.
struct PluginStore: StateStore {
    private let store: any StateStore
    private let plugin: PluginGuard
    private let host: PluginHost

    init(_ store: any StateStore, of plugin: PluginGuard, host: PluginHost) {
        self.store = store
        self.plugin = plugin
        self.host = host
    }

    var blockingReason: String? { store.blockingReason }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        for change in changes { try checkWrite(change.key.space) }
        let refused = try await away { try await store.commit(changes) }
        CallTape.current?.note(changes, refused: refused)
        return refused
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try check(key.space)
        let value = try await away { try await store.get(key) }
        CallTape.current?.note(key, .get(value))
        return value
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try checkWrite(key.space)
        try await away { try await store.put(key, value: value, expires: expires) }
        CallTape.current?.note(key, put: value)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try check(space)
        CallTape.current?.noteUnkept()
        return try await away { try await store.list(space, after: name, limit: limit) }
    }

    /// Runs an operation of the store on the threads of the process: others may wait for what it holds.
    private func away<Value: Sendable>(_ operation: @Sendable () async throws -> Value) async throws -> Value {
        guard plugin.isIsolated else { return try await operation() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor, operation: operation)
    }

    private func check(_ space: String) throws {
        guard plugin.owns(space) else {
            plugin.countFault(host)
            throw PluginFault(
                "the plugin \(plugin.name) reaches for a namespace of the state store that is not its own")
        }
    }

    private func checkWrite(_ space: String) throws {
        try check(space)
        guard let budget = CallBudget.current, !budget.takesStoreWrite(plugin.limits) else { return }
        plugin.count(.storeWrites, host)
        throw PluginLimitExceeded(
            limit: .storeWrites,
            description: "the call has made all \(plugin.limits.storeWrites) writes to the state store that it may make"
        )
    }
}
