public import AssayCore
public import AssayKit

/// A state store in a PostgreSQL database, shared by servers on several machines.
///
/// - When a write returns, the server has made it durable, as far as its settings promise; see <doc:AssayPostgres>.
/// - Every operation is one statement that checks its own condition, so that any number of servers may use one
///   database at once, also behind a failover to another host.
/// - While a connection waits for the server, operations gather, and are sent together: they share the round trip and
///   the wait for the disk. A lone operation is sent at once.
/// - An operation ends or throws within the time limit of the location, 2 seconds by default. One that was sent and not
///   answered throws, whether it was made or not.
/// - Connections that are lost are replaced, by one to any host of the location that accepts writes.
/// - Spaces and names have at most 1024 bytes of UTF-8, values at most 1 MiB, pages of a list at most 10 000 entries and
///   64 MiB. Counters go up to `UInt64.max`.
/// - Threads of its own wait for the network, never those of Swift's tasks. Cancelling a task does not undo a write.
public final class PostgresStore: StateStore {
    /// Limits on the arguments of callers.
    enum Limits {
        static let nameBytes = 1024
        static let valueBytes = 1 << 20
        static let changes = 16
        static let listedEntries = 10_000
        static let listedBytes = 64 << 20
        /// Entries of one statement of a list.
        static let page = 256
    }

    let core: StoreCore
    let clock: HostClock
    /// When entries are removed: not while a clock is ahead for a moment, or was just started with.
    let settled: SettledTime

    init(_ core: StoreCore, clock: HostClock) {
        self.core = core
        self.clock = clock
        settled = SettledTime(clock, isTrusted: false)
    }

    deinit {
        core.queue.close()
    }

    /// Makes all of the changes in one transaction, or none of them.
    ///
    /// Returns nil, or the index of the first change that could not be made.
    public func commit(_ changes: [StateChange]) async throws(PostgresStoreError) -> Int? {
        guard changes.count <= Limits.changes else {
            throw PostgresStoreError(.tooLarge, "\(changes.count) changes at once; at most \(Limits.changes)")
        }
        for change in changes { try check(change) }
        guard let first = changes.first else { return nil }
        if changes.count == 1 { return try await isMade(first) ? nil : 0 }
        let sorted = changes.enumerated().sorted { LockOrder($0.element) < LockOrder($1.element) }
        let step = core.statements.commit(sorted.map { $0.element }, now: clock.now)
        let order = sorted.first.map { LockOrder($0.element) }
        let row = try await core.queue.run(.write, step, order: order).single()
        var refused: Int?
        for (column, change) in sorted.enumerated() where try !row.bool(column) {
            refused = min(refused ?? change.offset, change.offset)
        }
        return refused
    }

    private func isMade(_ change: StateChange) async throws(PostgresStoreError) -> Bool {
        let order = LockOrder(change)
        switch change {
        case .insert(let key, let value, let expires, _):
            let step = Step(
                core.statements.insert, key.parameters + [.bytes(value), .time(expires), .time(clock.now)])
            return try await core.queue.run(.write, step, order: order).changed > 0
        case .advance(let key, let value):
            // Absent counts as 0, and nothing is greater than itself.
            guard value > 0 else { return false }
            let step = Step(core.statements.advance, key.parameters + [.counter(value)])
            return try await core.queue.run(.write, step, order: order).changed > 0
        }
    }

    /// Stores a value, replacing an earlier one; nil deletes it.
    public func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws(PostgresStoreError) {
        try check(key, value ?? [])
        let step =
            if let value {
                Step(core.statements.put, key.parameters + [.bytes(value), .time(expires)])
            } else {
                Step(core.statements.delete, key.parameters)
            }
        _ = try await core.queue.run(.write, step, order: LockOrder(key, isCounter: false))
    }

    /// The value of a key; nil when there is none or it has expired.
    public func get(_ key: StateKey) async throws(PostgresStoreError) -> [UInt8]? {
        try check(key, [])
        let table = try await core.queue.run(
            .read, Step(core.statements.get, key.parameters + [.time(clock.now)]))
        return try table.row()?.bytes(0)
    }

    /// The entries of a space in the order of their names, after a name, up to a limit.
    ///
    /// Long pages are fetched in parts: not as they were at one instant.
    public func list(
        _ space: String, after name: String?, limit: Int
    ) async throws(PostgresStoreError) -> [StateEntry] {
        try check(StateKey(space, name ?? ""), [])
        guard limit > 0 else { return [] }
        guard limit <= Limits.listedEntries else {
            throw PostgresStoreError(.tooLarge, "a page of \(limit) entries; at most \(Limits.listedEntries)")
        }
        let now = clock.now
        var entries: [StateEntry] = []
        var last = name
        var bytes = 0
        while entries.count < limit {
            let count = min(limit - entries.count, Limits.page)
            let statement = last.isNil ? core.statements.listFirst : core.statements.listAfter
            let table = try await core.queue.run(
                .read, Step(statement, [.utf8(space), .utf8(last ?? ""), .time(now), .integer(Int64(count))]))
            for row in table.rows {
                let value = try row.bytes(1)
                bytes += value.count
                entries.append(
                    StateEntry(
                        name: try row.utf8(0), value: value,
                        expires: try row.optionalInteger(2).map { Instant(milliseconds: $0) }))
            }
            guard bytes <= Limits.listedBytes else {
                throw PostgresStoreError(
                    .tooLarge, "a page of more than \(Limits.listedBytes) bytes; ask for fewer entries")
            }
            guard table.rows.count == count, let end = entries.last else { break }
            last = end.name
        }
        return entries
    }

    /// That the database is not the one that was opened, as far as that was found out; connections are looked at every
    /// few seconds, and whenever one is made.
    public var blockingReason: String? { core.blockingReason }

    /// Connections have threads of their own.
    public var neverBlocks: Bool { true }

    /// Ends all connections after the operations that were sent.
    ///
    /// Operations that come later throw ``PostgresStoreError/Code/closed``; so do those that no connection has taken.
    public func close() async {
        core.queue.close()
        await core.queue.waitForEnd()
    }

    private func check(_ change: StateChange) throws(PostgresStoreError) {
        switch change {
        case .insert(let key, let value, _, _): try check(key, value)
        case .advance(let key, _): try check(key, [])
        }
    }

    private func check(_ key: StateKey, _ value: [UInt8]) throws(PostgresStoreError) {
        guard key.space.utf8.count <= Limits.nameBytes, key.name.utf8.count <= Limits.nameBytes else {
            throw PostgresStoreError(.tooLarge, "a space or name of more than \(Limits.nameBytes) bytes")
        }
        guard value.count <= Limits.valueBytes else {
            throw PostgresStoreError(.tooLarge, "a value of \(value.count) bytes; at most \(Limits.valueBytes)")
        }
    }
}

extension StateKey {
    /// What names an entry in a statement.
    fileprivate var parameters: [Parameter] { [.utf8(space), .utf8(name)] }
}
