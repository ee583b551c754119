internal import AssayCore
internal import AssayKit

/// Removes expired entries in two steps.
///
/// First the store notes, for each space, up to which instant entries are going to be removed; from then on no insertion
/// of an entry is made that would have expired by then. A statement that began before does not see the note: the rows
/// are therefore removed only after every such statement has ended, which the time limit of statements sees to.
/// Otherwise one that waits meanwhile could insert once more what was removed.
struct ExpiryRound: Sendable {
    struct End: Sendable {
        let space: [UInt8]
        /// Up to when entries of the space can be removed, in milliseconds since 1970.
        let expires: Int64
    }

    let ends: [End]
    /// The uptime from which they can be removed.
    let due: Duration
}

extension PostgresStore {
    /// How expired entries are removed.
    enum Expiry {
        /// The time between two looks for expired entries.
        static let interval = Duration.seconds(5)
        /// How long after the note the rows are removed: no location allows statements that last that long.
        static let settling = Duration.seconds(15)
        /// Entries of one note, and of one statement that removes.
        static let marked: Int64 = 50_000
        static let removed: Int64 = 500
    }

    /// Removes expired entries at the rate at which they expire, until its task is cancelled.
    ///
    /// Servers share the work: none waits for rows that another one removes.
    public func run() async throws {
        var rounds: [ExpiryRound] = []
        while !Task.isCancelled {
            try await clock.sleep(for: Expiry.interval)
            do {
                // What is noted and not yet removed is not noted once more.
                let after = rounds.last?.ends.map(\.expires).max()
                let round = try await markExpired(after: after, until: settled.now, settling: Expiry.settling)
                if let round { rounds.append(round) }
                while let round = rounds.first, round.due <= clock.uptime {
                    try await remove(round)
                    rounds.removeFirst()
                }
            } catch let error as PostgresStoreError where error.isOutage {
                // A server that cannot write is not ready anyway, and is ready at once when it can again.
            }
        }
    }

    /// Notes up to when entries are going to be removed; returns nil when none has expired.
    ///
    /// - Parameter end: what has expired by then; by now when nil.
    func markExpired(
        after: Int64?, until end: Instant? = nil, settling: Duration, limit: Int64 = Expiry.marked
    ) async throws(PostgresStoreError) -> ExpiryRound? {
        let step = Step(
            core.statements.markExpired, [.integer(after ?? .min), .time(end ?? clock.now), .integer(limit)])
        // It locks rows of `purged` in their order, and none of other tables.
        let table = try await core.queue.run(.write, step, order: nil)
        guard !table.rows.isEmpty else { return nil }
        let ends = try table.rows.map { row throws(PostgresStoreError) in
            ExpiryRound.End(space: try row.bytes(0), expires: try row.integer(1))
        }
        return ExpiryRound(ends: ends, due: clock.uptime + settling)
    }

    /// Removes the entries of a round, few at a time, with as much pause as work.
    ///
    /// Returns their number.
    @discardableResult
    func remove(_ round: ExpiryRound, limit: Int64 = Expiry.removed) async throws -> Int {
        let spaces = round.ends.map { "\"\\\\x\(Hex.encode($0.space))\"" }.joined(separator: ",")
        let ends = round.ends.map { "\($0.expires)" }.joined(separator: ",")
        let last = round.ends.map(\.expires).max() ?? .min
        var total = 0
        var start = Int64.min
        while !Task.isCancelled {
            let begin = clock.uptime
            let step = Step(
                core.statements.removeExpired,
                [.text("{\(spaces)}"), .text("{\(ends)}"), .integer(last), .integer(start), .integer(limit)])
            let table = try await core.queue.run(.write, step, order: nil)
            total += table.rows.count
            // Not from the first again: the index still holds what was removed.
            start = try table.rows.map { try $0.integer(0) }.max() ?? start
            guard table.rows.count == limit else { break }
            try await clock.sleep(for: max(clock.uptime - begin, .milliseconds(1)))
        }
        return total
    }
}
