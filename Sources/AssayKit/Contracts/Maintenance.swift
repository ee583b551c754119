public import AssayCore

/// Work that an instance of a plugin does between calls: refreshing what it keeps, fetching keys.
///
/// The kernel runs it about every ``interval``, at another moment for each app of a provider and each project of a
/// consumer, and never twice at once in one process. Servers that share a state share the runs, too; work that must not
/// be done twice even if a server loses its clock or its store is claimed in the `StateSpace` first. A run
/// that throws, or takes longer than ``timeLimit``, is logged, and the wait before the next one grows until one
/// succeeds. After a change of policies the new instance's maintenance replaces the old one's.
public struct Maintenance: Sendable {
    /// The approximate time from the end of a run to the start of the next.
    public let interval: Duration
    /// How long a run may take; its task is cancelled then.
    public let timeLimit: Duration
    package let run: @Sendable (MaintenanceContext) async throws -> Void

    /// Makes maintenance that runs about every `interval`.
    ///
    /// - `run`: does a bounded piece of work, and returns early when nothing is due.
    public init(
        every interval: Duration, timeLimit: Duration = .seconds(60),
        _ run: @escaping @Sendable (MaintenanceContext) async throws -> Void
    ) {
        self.interval = interval
        self.timeLimit = timeLimit
        self.run = run
    }
}

/// Thrown by a run to postpone the next one, because another server asked for that.
public struct MaintenancePause: Error, Sendable, Hashable, CustomStringConvertible {
    /// The shortest wait before the next run; at most one day counts.
    public let duration: Duration
    /// Why, for an operator.
    @Exact public private(set) var message: String

    /// Pauses for a duration; `message` says why, for operators.
    public init(for duration: Duration, _ message: String) {
        self.duration = duration
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
