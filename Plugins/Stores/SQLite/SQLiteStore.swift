public import AssayCore
public import AssayKit
internal import Synchronization

/// A state store in one SQLite file: durable, and shared by the processes of one machine.
///
/// - When a write returns it survives the end of the process, `kill -9` included, and by default the loss of power
///   (``Options/Durability``). Concurrent writes share a transaction and so the cost of the disk.
/// - Several stores, in one process or several on one machine, may use the same file at once; every write is one atomic
///   statement in an immediate transaction. SQLite's write-ahead log needs a local file system: not NFS or SMB.
/// - A file that is removed or replaced while it is open is noticed with every operation, and the operation fails.
/// - ``close()`` writes the write-ahead log into the file and removes it. After `kill -9` the log stays beside the file. A file whose
///   log is missing or empty then is not opened: what was written last would be lost, and what was used once would be good again.
/// - If there is something in the log at the start, all pages are checked (seconds for a gigabyte), since the log may be
///   next to a restored file that it does not belong to.
/// - Expired entries are removed in small numbers by later writes, or all at once by ``sweep()``. Freed pages are used
///   again; the file does not shrink.
/// - Spaces and names have at most 1024 bytes of UTF-8, values at most 1 MiB, pages of a list at most 10 000 entries.
///   Counters go up to `UInt64.max`.
/// - Cancelling the task of a write does not undo it, and a cancelled read is not interrupted: both end soon in any
///   case.
public final class SQLiteStore: StateStore {
    private let writer: ConnectionQueue
    private let readers: ReadingConnections
    private let commits: GroupCommit
    private let watch: FileWatch
    private let clock: HostClock
    private let settled: SettledTime
    private let path: String
    /// Whether the end of the store writes the log into the file: not where a log was found and only read.
    private let mergesLog: Atomic<Bool>

    /// One store of a process opens its file at a time: see ``DatabaseFile/create()``.
    private static let opening = Mutex(())

    /// Opens the file at a path, or makes it (0600), and its folder (0700) if only that is missing.
    ///
    /// Blocks for the time of a few disk accesses, or up to the busy timeout while another process opens the file.
    ///
    /// - `path`: a path of the file system, never a URI.
    /// - `clock`: tells which entries have expired.
    /// - Throws: ``SQLiteStoreError`` about the folder, the file, its format or its version.
    public init(path: String, clock: HostClock, options: Options = Options()) throws(SQLiteStoreError) {
        let file = try DatabaseFile(path)
        do {
            let foundLog: Bool
            (self.writer, self.readers, self.watch, foundLog) = try Self.opening.withLock { _ in
                try Self.open(file, options)
            }
            mergesLog = Atomic(!foundLog)
        } catch {
            throw SQLiteStoreError(error, path: file.path)
        }
        self.path = file.path
        self.clock = clock
        settled = SettledTime(clock, isTrusted: options.trustsClock)
        self.commits = GroupCommit(
            writer: writer, clock: clock, settled: settled, path: file.path, watch: watch)
    }

    /// Makes all changes in one transaction or none, and returns the index of the first one that cannot be made.
    public func commit(_ changes: [StateChange]) async throws(SQLiteStoreError) -> Int? {
        if let fault = StateChange.fault(in: changes) { throw SQLiteStoreError(.invalidChanges, fault) }
        for change in changes {
            if case .insert(let key, let value, _, _) = change {
                try check(key, value)
            } else {
                try check(change.key, [])
            }
        }
        return try await write(.commit(changes))
    }

    /// Stores a value, replacing an earlier one; nil deletes it.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws(SQLiteStoreError) {
        try check(key, value ?? [])
        let mutation = value.map { Mutation.put(key, value: $0, expires: expires) } ?? .delete(key)
        _ = try await write(mutation)
    }

    /// The value of a key; nil when there is none or it has expired.
    public func get(_ key: StateKey) async throws(SQLiteStoreError) -> [UInt8]? {
        try check(key, [])
        let now = clock.now
        return try await read { db in
            try db.rows(
                "SELECT value FROM entry WHERE space = ? AND name = ? AND (expires IS NULL OR expires > ?)",
                [.utf8(key.space), .utf8(key.name), .time(now)]
            ) { $0.bytes(0) }.first
        }
    }

    /// The entries of a space in the order of their names, after a name, up to a limit.
    public func list(
        _ space: String, after name: String?, limit: Int
    ) async throws(SQLiteStoreError) -> [StateEntry] {
        try check(StateKey(space, name ?? ""), [])
        guard limit > 0 else { return [] }
        guard limit <= Limits.listedEntries else {
            throw SQLiteStoreError(.tooLarge, "a page of \(limit) entries; at most \(Limits.listedEntries)")
        }
        let now = clock.now
        return try await read { db in
            try db.rows(
                """
                SELECT name, value, expires FROM entry
                WHERE space = ? AND name \(name.isNil ? ">=" : ">") ? AND (expires IS NULL OR expires > ?)
                ORDER BY name LIMIT ?
                """,
                [.utf8(space), .utf8(name ?? ""), .time(now), .integer(Int64(limit))]
            ) { row in
                StateEntry(
                    name: row.text(0), value: row.bytes(1), expires: row.integer(2).map { Instant(milliseconds: $0) })
            }
        }
    }

    /// Removes all entries that have expired, a few hundred in a transaction.
    ///
    /// Returns their number.
    ///
    /// Writes do the same in passing; this is for a store that is seldom written. Stops early, without an error, when
    /// its task is cancelled.
    @discardableResult
    public func sweep() async throws(SQLiteStoreError) -> Int {
        var total = 0
        while !Task.isCancelled {
            let removed = try await write(.purge(limit: Limits.swept, settled.now)) ?? 0
            total += removed
            guard removed == Limits.swept else { break }
        }
        return total
    }

    /// Removes expired entries every ten minutes, which writes also do in passing, until its task is cancelled.
    public func run() async throws {
        mergesLog.store(true, ordering: .relaxed)
        while !Task.isCancelled {
            try await clock.sleep(for: Limits.sweepInterval)
            try await sweep()
        }
    }

    /// Closes the file, after the writes and reads that were begun before.
    ///
    /// Operations that come later throw ``SQLiteStoreError/Code/closed``; so do writes that still wait for their
    /// transaction.
    ///
    /// The file is whole by itself then, unless others use it, or the store has found a log and has only read. A released store
    /// closes its file as well, and leaves the log beside it. Neither is needed for durability.
    public func close() async {
        await readers.close()
        await writer.close { [watch, mergesLog = mergesLog.load(ordering: .relaxed)] db in
            // Of files that have replaced these, the log is not removed.
            guard mergesLog, watch.blockingReason.isNil else { return }
            // The last of those who use the file does it. If it fails, the log stays.
            try? Schema.mergeLog(db)
        }
    }

    /// That the file, or its log, was removed or replaced, as far as that was found out within the last tenth of a
    /// second.
    public var blockingReason: String? { watch.recentReason }

    /// The file is read and written on threads of the store.
    public var neverBlocks: Bool { true }

    private func write(_ mutation: Mutation) async throws(SQLiteStoreError) -> Int? {
        mergesLog.store(true, ordering: .relaxed)
        return try await commits.commit(mutation)
    }

    private func read<T: Sendable>(
        _ body: @escaping @Sendable (Connection) throws -> T
    ) async throws(SQLiteStoreError) -> T {
        do {
            return try await readers.read { [watch] db in
                let result = try body(db)
                try watch.check()
                return result
            }
        } catch {
            throw SQLiteStoreError(error, path: path)
        }
    }

    private func check(_ key: StateKey, _ value: [UInt8]) throws(SQLiteStoreError) {
        guard key.space.utf8.count <= Limits.nameBytes, key.name.utf8.count <= Limits.nameBytes else {
            throw SQLiteStoreError(.tooLarge, "a space or name of more than \(Limits.nameBytes) bytes")
        }
        guard value.count <= Limits.valueBytes else {
            throw SQLiteStoreError(.tooLarge, "a value of \(value.count) bytes; at most \(Limits.valueBytes)")
        }
    }
}
