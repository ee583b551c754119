public import AssayCore
public import AssayKit
internal import Synchronization

/// A state store that can be made to fail, like one with a full disk or a lost server.
public final class FailingStore: StateStore {
    /// What a failing operation throws.
    public struct Failure: Error, CustomStringConvertible {
        /// What an error in a log says.
        public let description = "the store fails, as the test wants it"
    }

    private let store: any StateStore
    private let failing = Mutex(false)

    /// - Parameter store: what works as long as nothing is to fail.
    public init(_ store: any StateStore) {
        self.store = store
    }

    /// Whether operations fail.
    public var isFailing: Bool {
        get { failing.withLock { $0 } }
        set { failing.withLock { $0 = newValue } }
    }

    /// Makes changes in the wrapped store, or throws ``Failure``.
    public func commit(_ changes: [StateChange]) async throws -> Int? {
        try check()
        return try await store.commit(changes)
    }

    /// Reads from the wrapped store, or throws ``Failure``.
    public func get(_ key: StateKey) async throws -> [UInt8]? {
        try check()
        return try await store.get(key)
    }

    /// Writes to the wrapped store, or throws ``Failure``.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try check()
        try await store.put(key, value: value, expires: expires)
    }

    /// Lists entries of the wrapped store, or throws ``Failure``.
    public func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        try check()
        return try await store.list(space, after: name, limit: limit)
    }

    /// The blocking reason of the wrapped store: a failing store alone blocks nothing.
    public var blockingReason: String? { store.blockingReason }

    private func check() throws(Failure) {
        if isFailing { throw Failure() }
    }
}
