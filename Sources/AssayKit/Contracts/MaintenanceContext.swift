public import AssayCore
public import Logging
internal import Synchronization

/// What a plugin can use during its ``Maintenance``: a provider for one app, a consumer for one project.
public struct MaintenanceContext: Sendable {
    /// The app whose policy names the provider; nil for a consumer.
    public let app: AppIdentity?
    /// The project whose policy names the consumer, or the app's project.
    public let project: ProjectIdentity
    /// The host's clock.
    public let clock: HostClock
    /// When the run's task is cancelled.
    public let deadline: Instant
    /// The plugin's namespace of the state store for this app or project; calls use the same one.
    public let state: StateSpace
    /// The logger of the run.
    public let logger: Logger
    private let tally = MaintenanceTally()

    /// Makes the context of a provider; tests use it.
    package init(app: AppIdentity, clock: HostClock, deadline: Instant, state: StateSpace, logger: Logger) {
        self.init(app, app.project, clock, deadline, state, logger)
    }

    /// Makes the context of a consumer; tests use it.
    package init(project: ProjectIdentity, clock: HostClock, deadline: Instant, state: StateSpace, logger: Logger) {
        self.init(nil, project, clock, deadline, state, logger)
    }

    private init(
        _ app: AppIdentity?, _ project: ProjectIdentity, _ clock: HostClock, _ deadline: Instant, _ state: StateSpace,
        _ logger: Logger
    ) {
        self.app = app
        self.project = project
        self.clock = clock
        self.deadline = deadline
        self.state = state
        self.logger = logger
    }

    /// Counts something that happened; the counts are in the run's `MaintenanceRecord`.
    public func count(_ event: MaintenanceEvent) {
        tally.count(event)
    }

    /// What was counted so far.
    public var counts: [MaintenanceEvent: Int] { tally.counts }
}

/// An event that maintenance counts: a stable code for logs and metric labels.
///
/// A plugin has only a few.
public struct MaintenanceEvent: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case words joined by underscores.
    ///
    /// It never changes its meaning.
    @Exact public private(set) var code: String

    /// Makes an event from its code.
    public init(_ code: String) {
        self.code = code
    }

    /// Same as ``code``.
    public var description: String { code }
}

private final class MaintenanceTally: Sendable {
    private let counted = Mutex<[MaintenanceEvent: Int]>([:])

    func count(_ event: MaintenanceEvent) {
        counted.withLock { $0[event, default: 0] += 1 }
    }

    var counts: [MaintenanceEvent: Int] { counted.withLock { $0 } }
}
