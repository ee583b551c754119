public import AssayCore

/// One namespace of a state store: the part that a plugin can use.
public struct StateSpace: Sendable {
    private let store: any StateStore
    private let space: String

    /// Makes the view of one namespace in a store.
    public init(_ space: String, in store: any StateStore) {
        self.space = space
        self.store = store
    }

    var name: String { space }

    /// A namespace within this one, with separate entries.
    ///
    /// - Parameter name: a word, without slashes.
    public func subspace(_ name: String) -> StateSpace {
        StateSpace("\(space)/\(name)", in: store)
    }

    /// Writes an entry unless an unexpired one exists.
    ///
    /// Returns whether it did; false also if a removed entry would be valid again because the clock was set back.
    public func insert(_ name: String, value: [UInt8] = [], expires: Instant?) async throws -> Bool {
        try await store.insert(StateKey(space, name), value: value, expires: expires)
    }

    /// Raises a counter if `value` is greater than what is stored; absent counts as 0.
    ///
    /// Returns whether it did.
    public func advance(_ name: String, to value: UInt64) async throws -> Bool {
        try await store.advance(StateKey(space, name), to: value)
    }

    /// The value of an entry that has not expired.
    public func get(_ name: String) async throws -> [UInt8]? {
        try await store.get(StateKey(space, name))
    }

    /// Writes an entry, or replaces it; nil deletes it.
    public func put(_ name: String, value: [UInt8]?, expires: Instant? = nil) async throws {
        try await store.put(StateKey(space, name), value: value, expires: expires)
    }

    /// Up to `limit` entries whose names come after `name`, in order.
    public func list(after name: String? = nil, limit: Int) async throws -> [StateEntry] {
        try await store.list(space, after: name, limit: limit)
    }
}
