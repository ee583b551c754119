public import AssayCore

/// One namespace of a state store: the part that a plugin can use.
public struct StateSpace: Sendable {
    private let store: any StateStore
    private let space: String
    /// Since when the state is complete, so that ``OneTimeUse`` knows what was used; nil where nothing tells it.
    public let beginning: Instant?

    /// Makes the view of one namespace in a store.
    ///
    /// - `beginning`: since when the state is complete; nil where nothing tells it.
    public init(_ space: String, in store: any StateStore, since beginning: Instant? = nil) {
        self.space = space
        self.store = store
        self.beginning = beginning
    }

    var name: String { space }

    /// A namespace within this one, with separate entries.
    ///
    /// - Parameter name: a word, without slashes.
    public func subspace(_ name: String) -> StateSpace {
        StateSpace("\(space)/\(name)", in: store, since: beginning)
    }

    /// Writes an entry unless an unexpired one exists.
    ///
    /// Returns whether it did; false also if a removed entry would be valid again because the clock was set back.
    ///
    /// - Parameter isListed: whether ``list(after:limit:)`` has to return it; some stores save work for what is only looked up
    ///   by its name.
    public func insert(
        _ name: String, value: [UInt8] = [], expires: Instant?, isListed: Bool = true
    ) async throws -> Bool {
        try await store.insert(StateKey(space, name), value: value, expires: expires, isListed: isListed)
    }

    /// Raises a counter if `value` is greater than what is stored; absent counts as 0.
    ///
    /// Returns whether it did.
    public func advance(_ name: String, to value: UInt64) async throws -> Bool {
        try await store.advance(StateKey(space, name), to: value)
    }

    /// Makes all of the changes in one atomic step, or none of them; see ``StateStore/commit(_:)``.
    ///
    /// - `changes`: 1 to 16 of this namespace or of others that its owner may use, each of another key.
    /// - Returns: nil when all were made; otherwise the index of the first one that could not be made.
    public func commit(_ changes: [StateChange]) async throws -> Int? {
        try await store.commit(changes)
    }

    /// The change that writes an entry unless an unexpired one exists, for ``commit(_:)``.
    public func inserting(
        _ name: String, value: [UInt8] = [], expires: Instant?, isListed: Bool = true
    ) -> StateChange {
        .insert(StateKey(space, name), value: value, expires: expires, isListed: isListed)
    }

    /// The change that raises a counter, for ``commit(_:)``.
    public func advancing(_ name: String, to value: UInt64) -> StateChange {
        .advance(StateKey(space, name), to: value)
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
