public import AssayCore
public import AssayKit
internal import Synchronization

/// The decisions in audit files, as an archive for an engine.
///
/// Look-ups run one at a time on a thread of their own, and few may wait. Each reads a bounded number of bytes for a bounded
/// time; a list that needs more continues in its next page. ``index()`` makes the indexes; a look-up makes only the end of one.
public final class AuditArchive: DecisionArchive {
    /// The bounds of a look-up.
    public struct Limits: Sendable, Hashable {
        /// How many bytes of lines it reads.
        public var bytes: Int
        /// How many bytes at the end of files, which no index is about yet, it reads.
        public var unindexedBytes: Int
        /// How long it may take.
        public var time: Duration
        /// How many look-ups may wait for the one that runs.
        public var waiting: Int

        /// By default 64 MiB of lines, 64 MiB without an index, 2 seconds, and 8 that wait.
        public init(
            bytes: Int = 64 << 20, unindexedBytes: Int = 64 << 20, time: Duration = .seconds(2), waiting: Int = 8
        ) {
            self.bytes = bytes
            self.unindexedBytes = unindexedBytes
            self.time = time
            self.waiting = waiting
        }
    }

    private let paths: [String]
    private let limits: Limits
    private let clock: HostClock
    private let threads: WorkerThreads
    private let indexer = WorkerThreads(count: 1, waiting: 1)

    /// Makes the archive of audit files, each with its rotated files, or of folders of them.
    public init(_ paths: [String], limits: Limits = Limits(), clock: HostClock = .system) {
        self.paths = paths
        self.limits = limits
        self.clock = clock
        threads = WorkerThreads(count: 1, waiting: limits.waiting)
    }

    /// Makes the indexes of what was written since the last time, on a thread of its own.
    ///
    /// - Throws: ``AuditFileError``; `TooMuchWork` while it still does that.
    public func index() async throws {
        let paths = paths
        try await indexer.run { _ = try AuditIndexing.index(paths) }
    }

    /// The record of a decision; see `DecisionArchive`.
    public func decision(
        _ id: DecisionID, of projects: [ExactText]
    ) async throws(DecisionArchiveError) -> ArchivedDecision? {
        let found = try await run { try $0.find(id.text, of: projects) }
        if found.decisions.isEmpty, !found.nextPageToken.isNil {
            throw DecisionArchiveError(.unavailable, "the look-up took too long")
        }
        return found.decisions.first
    }

    /// The records that match; see `DecisionArchive`.
    public func decisions(_ query: DecisionQuery) async throws(DecisionArchiveError) -> DecisionPage {
        try await run { try $0.list(query) }
    }

    private func run(
        _ body: @escaping @Sendable (AuditLookup) throws -> AuditLookup.Found
    ) async throws(DecisionArchiveError) -> DecisionPage {
        let (paths, clock, limits) = (paths, clock, limits)
        let end = clock.uptime + limits.time
        do {
            return try await threads.run {
                // A caller that waited so long has gone away.
                guard clock.uptime < end else {
                    throw DecisionArchiveError(.unavailable, "other look-ups took too long")
                }
                var budget = AuditLookup.Budget()
                budget.bytes = limits.bytes
                budget.unindexed = limits.unindexedBytes
                budget.isOver = { clock.uptime >= end }
                let found = try body(try AuditLookup(paths, indexing: .read, budget: budget))
                let decisions = found.lines.compactMap { line -> ArchivedDecision? in
                    let limits = JSON.Limits(bytes: LineSplitter.lengthLimit)
                    return (try? JSON.parse(line, limits: limits)).map { ArchivedDecision(record: $0) }
                }
                return DecisionPage(decisions: decisions, nextPageToken: found.next)
            }
        } catch let error as DecisionArchiveError {
            throw error
        } catch is StaleIndex {
            throw DecisionArchiveError(.unavailable, "the index of the audit files is made again")
        } catch is BudgetSpent {
            throw DecisionArchiveError(.unavailable, "the index of the audit files is not ready")
        } catch {
            throw DecisionArchiveError(.unavailable, "\(error)")
        }
    }
}

/// Makes indexes.
package enum AuditIndexing {
    /// What became of one file.
    package struct Outcome: Sendable {
        package let path: String
        /// How many bytes were read.
        package let bytes: Int
        package let blocks: Int
        /// Whether a line has the record of a decision, or a sum of such.
        package let hasDecisions: Bool
        /// Why there is no index, or the file could not be read to its end; nil when there is a whole one.
        package let failure: String?
    }

    /// Makes or completes the index of each file, whatever folders have none.
    package static func index(_ paths: [String]) throws(AuditFileError) -> [Outcome] {
        var empty: [String] = []
        return try index(paths, empty: &empty)
    }

    /// Makes or completes the index of each file.
    ///
    /// - Parameter empty: gets the folders that have no audit file.
    package static func index(
        _ paths: [String], empty: inout [String]
    ) throws(AuditFileError) -> [Outcome] {
        try AuditPaths.files(paths, empty: &empty).map { path in
            do {
                let file = try IndexedFile(path, keeping: .save)
                return Outcome(
                    path: path, bytes: file.bytesRead, blocks: file.index.blocks.count,
                    hasDecisions: file.hasDecisions,
                    failure: file.damage ?? file.savingFailure.map { "\(path): \($0)" })
            } catch {
                return Outcome(path: path, bytes: 0, blocks: 0, hasDecisions: false, failure: "\(error)")
            }
        }
    }
}
