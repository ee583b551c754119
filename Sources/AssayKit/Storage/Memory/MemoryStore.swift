public import AssayCore
internal import Synchronization

/// A state store in memory, for tests, for trials, and for one process that may lose its state.
///
/// Nothing survives the process: after a restart a challenge can be used once more, and counters begin again at zero.
/// The store takes up to a set number of entries and bytes, then refuses more with a ``Full`` error; it never removes
/// an entry before it has expired. Each write also removes a few expired entries, so that the work is spread evenly.
///
/// Single reads and writes take constant time, apart from the logarithm of the number of deadlines;
/// ``list(_:after:limit:)`` reads all entries of its space.
public final class MemoryStore: StateStore {
    /// The store is full, and nothing in it has expired.
    ///
    /// Nothing was written.
    public struct Full: Error, Sendable, Hashable, CustomStringConvertible {
        /// The most entries that it holds.
        public let maximumEntries: Int
        /// The most bytes that the names and values of its entries may have.
        public let maximumBytes: Int

        /// The limit in words.
        public var description: String {
            "the state in memory is full: at most \(maximumEntries) entries and counters, and \(maximumBytes) bytes"
        }
    }

    private let clock: HostClock
    /// When entries are removed: a clock that is ahead for a moment removes nothing.
    private let settled: SettledTime
    private let state: Mutex<MemoryState>

    /// - Parameters:
    ///   - clock: decides which entries have expired.
    ///   - maximumEntries: the most entries and counters, in all spaces together.
    ///   - maximumBytes: the most bytes of spaces, names and values together.
    public init(clock: HostClock, maximumEntries: Int = 1_000_000, maximumBytes: Int = 256 << 20) {
        self.clock = clock
        settled = SettledTime(clock)
        self.state = Mutex(MemoryState(limits: Full(maximumEntries: maximumEntries, maximumBytes: maximumBytes)))
    }

    /// Nothing waits for anything but another operation.
    public var neverBlocks: Bool { true }

    /// Makes all changes or none, and returns the index of the first one that cannot be made.
    ///
    /// - Throws: ``Full``, or an error that says why these changes cannot be made together.
    public func commit(_ changes: [StateChange]) async throws -> Int? {
        if let fault = StateChange.fault(in: changes) { throw InvalidChanges(description: fault) }
        let changes = changes.map(MemoryState.Change.init)
        let (now, settled) = (clock.now, settled.now)
        return try state.withLock { state throws(Full) in try state.commit(changes, now, settled: settled) }
    }

    private struct InvalidChanges: Error, CustomStringConvertible {
        let description: String
    }

    /// The value of a key; nil when there is none or it has expired.
    public func get(_ key: StateKey) async -> [UInt8]? {
        let key = MemoryState.Key(key)
        let now = clock.now
        return state.withLock { $0.entry(key, now)?.value }
    }

    /// Stores a value, or removes it when the value is nil.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws(Full) {
        let key = MemoryState.Key(key)
        let (now, settled) = (clock.now, settled.now)
        let entry = value.map { MemoryState.Entry(value: $0, expires: expires) }
        try state.withLock { state throws(Full) in try state.put(key, entry, now, settled: settled) }
    }

    /// The entries of a space whose names follow a given one, in the order of their names.
    public func list(_ space: String, after name: String?, limit: Int) async -> [StateEntry] {
        guard limit > 0 else { return [] }
        let now = clock.now
        let space = Array(space.utf8)
        let start = name.map { Array($0.utf8) }
        let found = state.withLock { $0.entries(of: space, after: start, now) }
        // Sorted after the lock is released: only this caller needs the order.
        return found.sorted { $0.key.lexicographicallyPrecedes($1.key) }.prefix(limit).map { name, entry in
            StateEntry(name: String(decoding: name, as: UTF8.self), value: entry.value, expires: entry.expires)
        }
    }

    /// The number of entries and counters, including expired ones that are not yet removed.
    package var count: Int { state.withLock { $0.count } }

    /// The number of deadlines, including those of entries that were replaced or deleted.
    package var deadlineCount: Int { state.withLock { $0.deadlineCount } }
}
