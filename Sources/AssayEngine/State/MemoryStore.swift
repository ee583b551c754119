public import AssayCore
public import AssayState
internal import Synchronization

/// A state store in memory: for tests, for trying things out, and for one process that may forget.
///
/// Nothing survives the process: after a restart a challenge can be consumed once more and counters begin anew. It
/// takes up to a set number of entries and bytes, then refuses more with a ``Full`` error; it never drops what has not
/// expired. Each write also removes a few expired entries, so that the work is spread evenly.
///
/// Single reads and writes do not get slower as the store grows, but for the logarithm of a deadline's place among the
/// others; ``list(_:after:limit:)`` looks at all of its space.
public final class MemoryStore: StateStore {
    /// The store holds as much as it may, and nothing of it has expired.
    ///
    /// Nothing was written.
    public struct Full: Error, Sendable, Hashable, CustomStringConvertible {
        /// How many entries it holds at most.
        public let maximumEntries: Int
        /// How many bytes the names and values of entries have at most.
        public let maximumBytes: Int

        /// The limit in words.
        public var description: String {
            "the state in memory is full: at most \(maximumEntries) entries and counters, and \(maximumBytes) bytes"
        }
    }

    private let clock: HostClock
    private let state: Mutex<MemoryState>

    /// - Parameters:
    ///   - clock: tells which entries have expired.
    ///   - maximumEntries: how many entries and counters there may be, all spaces together.
    ///   - maximumBytes: how many bytes their spaces, names and values may have together.
    public init(clock: HostClock, maximumEntries: Int = 1_000_000, maximumBytes: Int = 256 << 20) {
        self.clock = clock
        self.state = Mutex(MemoryState(limits: Full(maximumEntries: maximumEntries, maximumBytes: maximumBytes)))
    }

    /// Stores a value where there is none, and returns whether it did.
    public func insert(_ key: StateKey, value: [UInt8], expires: Instant?) async throws(Full) -> Bool {
        let key = MemoryState.Key(key)
        let now = clock.now
        return try state.withLock { state throws(Full) in
            try state.insert(key, MemoryState.Entry(value: value, expires: expires), now)
        }
    }

    /// Raises a counter, and returns whether the value was higher.
    public func advance(_ key: StateKey, to value: UInt64) async throws(Full) -> Bool {
        let key = MemoryState.Key(key)
        let now = clock.now
        return try state.withLock { state throws(Full) in try state.advance(key, to: value, now) }
    }

    /// The value of a key; nil where there is none, or it has expired.
    public func get(_ key: StateKey) async -> [UInt8]? {
        let key = MemoryState.Key(key)
        let now = clock.now
        return state.withLock { $0.entry(key, now)?.value }
    }

    /// Stores a value, or removes it where the value is nil.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws(Full) {
        let key = MemoryState.Key(key)
        let now = clock.now
        let entry = value.map { MemoryState.Entry(value: $0, expires: expires) }
        try state.withLock { state throws(Full) in try state.put(key, entry, now) }
    }

    /// The entries of a space after a name, in the order of their names.
    public func list(_ space: String, after name: String?, limit: Int) async -> [StateEntry] {
        guard limit > 0 else { return [] }
        let now = clock.now
        let space = Array(space.utf8)
        let start = name.map { Array($0.utf8) }
        let found = state.withLock { $0.entries(of: space, after: start, now) }
        // Sorted when the lock is released: the order is the caller's business, not that of everybody else.
        return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(limit).map { name, entry in
            StateEntry(name: String(decoding: name, as: UTF8.self), value: entry.value, expires: entry.expires)
        }
    }

    /// How many entries and counters are held, expired ones that are not yet removed included.
    package var count: Int { state.withLock { $0.count } }

    /// How many deadlines are held, those of entries that were replaced or deleted included.
    package var deadlineCount: Int { state.withLock { $0.deadlineCount } }
}
