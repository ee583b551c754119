internal import AssayCore
internal import AssayEngine
internal import AssayKit

/// A store in memory whose state began some time ago.
///
/// What may have been used before the state began is refused, so that evidence which is made in the first moments of a state is no
/// evidence of a service in use.
struct AgedStore: StateStore {
    private let store: MemoryStore
    private let beginning: [UInt8]

    init(_ clock: HostClock, age: Duration = .seconds(86_400)) {
        store = MemoryStore(clock: clock)
        beginning = StateHistory.bytes(clock.now - age)
    }

    func commit(_ changes: [StateChange]) async throws -> Int? { try await store.commit(changes) }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        key == StateHistory.beginningKey ? beginning : try await store.get(key)
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try await store.list(space, after: name, limit: limit)
    }

    var blockingReason: String? { store.blockingReason }
}
