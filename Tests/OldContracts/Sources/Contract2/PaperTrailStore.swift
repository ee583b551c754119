import AssayCore
import AssayKit
import Dispatch
import Synchronization

/// A state store for one process: everything in memory, and each change in a file before the change counts.
///
/// Its operations run on a queue of its own, because they wait for the disk.
public final class PaperTrailStore: StateStorePlugin {
    /// `paper_trail`, followed by the path of the file.
    public static let descriptor = StorageDescriptor(
        scheme: "paper_trail", contract: 2, version: "1.0.0",
        summary: "Keeps state in memory, and each change in a file.", location: "PATH",
        posture: SecurityPosture(
            proves: "What was written is there after the process has ended.",
            trusts: ["the file system and its permissions"]),
        survival: .processEnd, sharing: .process)

    /// The most entries and counters; a store that is full refuses to write, and drops nothing.
    static let maximumCount = 1_000_000

    private struct State {
        var table: Table
        /// Nil after ``PaperTrailStore/close()``.
        var journal: Journal?
    }

    private let clock: HostClock
    /// When entries are removed: a clock that is ahead for a moment removes nothing.
    private let settled: SettledTime
    private let queue = DispatchQueue(label: "paper_trail")
    private let state: Mutex<State>

    /// Opens a store, and creates its file if it does not exist.
    ///
    /// - Throws: `StateStoreOpeningError` with words for an operator.
    public static func open(
        _ location: String, clock: HostClock
    ) async throws(StateStoreOpeningError) -> PaperTrailStore {
        try PaperTrailStore(location, clock)
    }

    private init(_ path: String, _ clock: HostClock) throws(StateStoreOpeningError) {
        self.clock = clock
        settled = SettledTime(clock, isTrusted: false)
        do {
            let (journal, changes) = try Journal.open(path)
            var table = Table()
            for change in changes { table.apply(change) }
            state = Mutex(State(table: table, journal: journal))
        } catch {
            throw StateStoreOpeningError("paper_trail: \(path): \(error)")
        }
    }

    /// Closes the file; every operation throws from then on.
    public func close() async {
        try? await onQueue { $0.journal = nil }
    }

    /// Makes all changes or none, and returns the index of the first one that cannot be made.
    public func commit(_ changes: [StateChange]) async throws -> Int? {
        if let fault = StateChange.fault(in: changes) { throw PaperTrailError.invalidChanges(fault) }
        let (now, settled) = (clock.now, settled.now)
        return try await onQueue { state in
            if let refused = changes.firstIndex(where: { !state.table.admits($0, now) }) { return refused }
            try Self.write(changes.map(Change.init), to: &state, settled)
            return nil
        }
    }

    /// Writes an entry, or replaces it; nil deletes it.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        let settled = settled.now
        let change = Change.entry(key, value.map { Entry(value: $0, expires: expires) })
        try await onQueue { try Self.write([change], to: &$0, settled) }
    }

    /// The value of an entry that has not expired.
    public func get(_ key: StateKey) async throws -> [UInt8]? {
        let now = clock.now
        return try await onQueue { $0.table.entry(key, now)?.value }
    }

    /// The entries of a space whose names come after `name`, in the order of their bytes.
    public func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        let now = clock.now
        return try await onQueue { $0.table.entries(space, after: name, limit: limit, now) }
    }

    /// Writes changes that belong together, first to the file.
    ///
    /// - Parameter settled: what has expired by then may be removed.
    private static func write(_ changes: [Change], to state: inout State, _ settled: Instant) throws {
        let isFull = state.table.count + changes.count > maximumCount
        guard !isFull || changes.allSatisfy(\.isDeletion) else { throw PaperTrailError.full }
        try state.journal?.append(changes)
        for change in changes { state.table.apply(change) }
        if let length = state.journal?.length, length > 2 * state.table.count + 1000 {
            state.table.removeExpired(settled)
            try state.journal?.rewrite(state.table.changes)
        }
    }

    private func onQueue<T: Sendable>(_ work: @escaping @Sendable (inout State) throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            queue.async {
                continuation.resume(
                    with: Result {
                        try self.state.withLock { state in
                            guard state.journal != nil else { throw PaperTrailError.closed }
                            return try work(&state)
                        }
                    })
            }
        }
    }
}

/// Why an operation failed; nothing was written then.
public enum PaperTrailError: Error, Sendable {
    /// The store has no room.
    case full
    /// The changes cannot be made together.
    case invalidChanges(String)
    /// The store was closed.
    case closed
    /// The file is no journal of this store, or is damaged.
    case damaged
    /// Another process or another store has the file open.
    case inUse
    /// The system could not read or write the file.
    case system(String)
}
