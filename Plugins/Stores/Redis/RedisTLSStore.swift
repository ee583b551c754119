public import AssayCore
public import AssayKit

/// The store in Redis or Valkey over TLS: the scheme `rediss`.
///
/// Everything else is as for ``RedisStore``.
public final class RedisTLSStore: StateStorePlugin {
    private let store: RedisStore

    private init(_ store: RedisStore) {
        self.store = store
    }

    /// `rediss`, followed by the rest of the URL.
    public static let descriptor = StorageDescriptor(
        scheme: "rediss", version: AssayVersion.text,
        summary: "State in Redis or Valkey over TLS, for servers on several machines.",
        location: "//HOST:PORT/0[#OPTIONS]",
        posture: SecurityPosture(
            proves: "What was used once stays used for all servers, as far as the server keeps what it acknowledged.",
            trusts: ["the Redis or Valkey server, and its disk", "the authority of its certificate"]),
        survival: .powerLoss, sharing: .servers)

    /// Opens the store with TLS, and verifies the server's certificate.
    public static func open(
        _ location: String, host: StorageHost
    ) async throws(StateStoreOpeningError) -> RedisTLSStore {
        RedisTLSStore(try await RedisStore.open(location, isSecure: true, clock: host.clock))
    }

    /// See ``RedisStore/commit(_:)``.
    public func commit(_ changes: [StateChange]) async throws(RedisStoreError) -> Int? {
        try await store.commit(changes)
    }

    /// See ``RedisStore/get(_:)``.
    public func get(_ key: StateKey) async throws(RedisStoreError) -> [UInt8]? {
        try await store.get(key)
    }

    /// See ``RedisStore/put(_:value:expires:)``.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws(RedisStoreError) {
        try await store.put(key, value: value, expires: expires)
    }

    /// See ``RedisStore/list(_:after:limit:)``.
    public func list(
        _ space: String, after name: String?, limit: Int
    ) async throws(RedisStoreError) -> [StateEntry] {
        try await store.list(space, after: name, limit: limit)
    }

    /// See ``RedisStore/blockingReason``.
    public var blockingReason: String? { store.blockingReason }

    /// See ``RedisStore/neverBlocks``.
    public var neverBlocks: Bool { true }

    /// See ``RedisStore/caution``.
    public var caution: String? { store.caution }

    /// See ``RedisStore/run()``.
    public func run() async throws { try await store.run() }

    /// See ``RedisStore/close()``.
    public func close() async { await store.close() }

    /// See ``RedisStore/copy(_:to:adding:)``.
    public static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {
        throw RedisStore.copyingError
    }

    /// See ``RedisStore/examine(_:)``.
    public static func examine(_ location: String) async throws(StateStoreOpeningError) -> StateStoreFindings {
        try await RedisStore.examine(location, isSecure: true)
    }
}
