public import AssayCore

/// Storage for data of the kernel and of plugins that must outlive a request: few operations, each atomic and durable.
///
/// An implementer keeps these promises; `StateStoreSuite` in `AssayTesting` checks them:
///
/// - when an operation returns, its effect survives a crash of the process, if the store is durable;
/// - of any number of concurrent insertions of one key, exactly one is made;
/// - a counter never goes down, whatever the order of concurrent changes;
/// - the changes of one ``commit(_:)`` are made together: no reader and no crash finds some of them. A store that spans
///   several servers may instead make them one after another, in their order, until one cannot be made: what was used
///   then stays used although nothing was granted for it;
/// - an entry is expired from the instant `expires` on; it then counts as absent, and its space is freed at some time;
/// - expired entries are removed by `SettledTime`, not by the time of day: a clock that is ahead for a moment removes nothing;
/// - an entry that has expired and was removed is not forgotten when the clock is set back: an insertion whose
///   `expires` is not later than that of an entry that was removed from the same space is not made;
/// - spaces and names are compared by their bytes in UTF-8 (not as `String` compares them); names up to 1024 bytes and
///   values up to 1 MiB are accepted, larger ones may be refused but are never truncated;
/// - a store that is full refuses to write; it never drops unexpired entries;
/// - an operation that fails throws, and has then no effect, or one that the caller must not rely on.
public protocol StateStore: Sendable {
    /// Makes all of the changes in one atomic step, or none of them.
    ///
    /// - `changes`: 1 to 16 changes, each of another key. Others are refused, see ``StateChange/fault(in:)``.
    /// - Returns: nil when all of them were made; otherwise the index of the first one that could not be made, because
    ///   an entry was there or a counter was not below the value.
    func commit(_ changes: [StateChange]) async throws -> Int?

    /// The value of an entry that has not expired.
    func get(_ key: StateKey) async throws -> [UInt8]?

    /// Writes an entry, or replaces it; nil deletes it. Counters are not entries.
    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws

    /// Up to `limit` entries of a space whose names come after `name`, in the order of their names' bytes.
    ///
    /// Nil starts at the first. Fewer than `limit` entries mean the end. Limit pages to 10 000 entries: a store may
    /// refuse larger ones.
    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry]

    /// Why the store is not reliable now, for operators, for example because its file was removed or replaced; nil when
    /// it is reliable.
    ///
    /// The engine asks before each decision and decides nothing meanwhile. It returns at once, in microseconds.
    var blockingReason: String? { get }

    /// Whether no operation ever blocks the thread that calls it, for a disk, a network or a lock that is held for long.
    ///
    /// Such a store is called on the threads that connections are read on: if it does block, no connection of that thread
    /// continues meanwhile. Any other store has eight threads of its own, which takes some ten microseconds more for an
    /// operation; a ninth operation waits while eight block. False by default.
    ///
    /// Every operation must end by itself within seconds, and throw if it cannot know its outcome: a thread that blocks cannot be
    /// stopped, so that neither the time limit of decisions nor a cancellation ends the calls that wait for it. An operation
    /// that waits without blocking should end when its task is cancelled.
    var neverBlocks: Bool { get }
}

extension StateStore {
    /// No blocking reason.
    public var blockingReason: String? { nil }

    /// It may block.
    public var neverBlocks: Bool { false }
}

/// The name of an entry or a counter.
public struct StateKey: Sendable, Hashable {
    /// The owner: a namespace of the kernel or a plugin.
    @Exact public private(set) var space: String
    /// The name within the namespace.
    @Exact public private(set) var name: String

    /// Makes a key from a namespace and a name within it.
    public init(_ space: String, _ name: String) {
        self.space = space
        self.name = name
    }
}

/// One change of a ``StateStore/commit(_:)``, which is made only under its condition.
public enum StateChange: Sendable, Hashable {
    /// Writes an entry unless an unexpired one exists.
    ///
    /// It is not made either if there may have been one, which expired and was removed before the clock was set back.
    ///
    /// - `isListed`: whether ``StateStore/list(_:after:limit:)`` has to return the entry. A store may return it in any
    ///   case; one that has to keep lists beside the entries saves that for what is only looked up by its name.
    case insert(StateKey, value: [UInt8], expires: Instant?, isListed: Bool)

    /// Raises a counter if `value` is greater than what is stored; absent counts as 0. Counters do not expire.
    case advance(StateKey, to: UInt64)

    /// The most changes of one ``StateStore/commit(_:)``.
    public static let limit = 16

    /// What makes a list of changes invalid, for the error of a store; nil when they can be made together.
    public static func fault(in changes: [StateChange]) -> String? {
        guard !changes.isEmpty, changes.count <= limit else {
            return "\(changes.count) changes at once; 1 to \(limit) can be made together"
        }
        for (index, change) in changes.enumerated().dropFirst() where changes[..<index].contains(where: change.meets) {
            return "two changes of one key at once"
        }
        return nil
    }

    private func meets(_ other: StateChange) -> Bool {
        switch (self, other) {
        case (.insert(let key, _, _, _), .insert(let second, _, _, _)), (.advance(let key, _), .advance(let second, _)):
            key == second
        default: false
        }
    }

    /// The entry or the counter that it changes.
    public var key: StateKey {
        switch self {
        case .insert(let key, _, _, _), .advance(let key, _): key
        }
    }
}

extension StateStore {
    /// Writes an entry unless an unexpired one exists.
    ///
    /// Returns whether it did.
    public func insert(
        _ key: StateKey, value: [UInt8], expires: Instant?, isListed: Bool = true
    ) async throws -> Bool {
        try await commit([.insert(key, value: value, expires: expires, isListed: isListed)]) == nil
    }

    /// Raises a counter if `value` is greater than what is stored; absent counts as 0.
    ///
    /// Returns whether it did.
    public func advance(_ key: StateKey, to value: UInt64) async throws -> Bool {
        try await commit([.advance(key, to: value)]) == nil
    }
}

/// An entry as ``StateStore/list(_:after:limit:)`` returns it.
public struct StateEntry: Sendable, Hashable {
    /// The entry's name within its namespace.
    @Exact public private(set) var name: String
    /// The entry's bytes.
    public let value: [UInt8]
    /// The instant from which the entry is absent; nil when it never expires.
    public let expires: Instant?

    /// Makes an entry.
    public init(name: String, value: [UInt8], expires: Instant?) {
        self.name = name
        self.value = value
        self.expires = expires
    }
}
