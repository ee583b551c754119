/// Work that an instance of a provider does between calls: refreshing what it keeps, fetching keys.
///
/// The kernel runs it about every ``interval``, at another moment for each app, and never twice at once in one process.
/// Several servers may share one state: what must not be done by all of them is claimed in the ``StateSpace`` first. A
/// run that throws, or takes longer than ``timeLimit``, is logged, and the next ones come later and later until one
/// succeeds. After a change of policies the new instance's maintenance takes the place of the old one's.
public struct Maintenance: Sendable {
    /// The time from the end of a run to the beginning of the next, more or less.
    public let interval: Duration
    /// How long a run may take; its task is cancelled then.
    public let timeLimit: Duration
    package let run: @Sendable (MaintenanceContext) async throws -> Void

    /// - Parameter run: does a bounded piece of work, and returns early when nothing is due.
    public init(
        every interval: Duration, timeLimit: Duration = .seconds(60),
        _ run: @escaping @Sendable (MaintenanceContext) async throws -> Void
    ) {
        self.interval = interval
        self.timeLimit = timeLimit
        self.run = run
    }
}

/// Thrown by a run that must not be followed by another one for a while, since somebody asked for that.
public struct MaintenancePause: Error, Sendable, Hashable, CustomStringConvertible {
    /// How long to wait at least; a day at most is obeyed.
    public let duration: Duration
    /// Why, for an operator.
    @Exact public private(set) var message: String

    public init(for duration: Duration, _ message: String) {
        self.duration = duration
        self.message = message
    }

    public var description: String { message }
}
