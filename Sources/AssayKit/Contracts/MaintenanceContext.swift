public import Logging
internal import Synchronization

/// What a provider has at hand while it does its ``Maintenance`` for one app.
public struct MaintenanceContext: Sendable {
    /// The app whose policy names the provider.
    public let app: AppIdentity
    public let clock: HostClock
    /// When the run's task is cancelled.
    public let deadline: Instant
    /// The provider's own corner of the state store, for this app: the one that calls see.
    public let state: StateSpace
    public let logger: Logger
    private let tally = MaintenanceTally()

    public init(app: AppIdentity, clock: HostClock, deadline: Instant, state: StateSpace, logger: Logger) {
        self.app = app
        self.clock = clock
        self.deadline = deadline
        self.state = state
        self.logger = logger
    }

    /// Counts something that happened; what was counted stands in the run's ``MaintenanceRecord``.
    public func count(_ event: MaintenanceEvent) {
        tally.count(event)
    }

    /// What was counted so far.
    public var counts: [MaintenanceEvent: Int] { tally.counts }
}

/// Something that maintenance counts: a stable code for logs and metric labels, of which a plugin has a few.
public struct MaintenanceEvent: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case words joined by underscores. It never changes its meaning.
    @Exact public private(set) var code: String

    public init(_ code: String) {
        self.code = code
    }

    public var description: String { code }
}

private final class MaintenanceTally: Sendable {
    private let counted = Mutex<[MaintenanceEvent: Int]>([:])

    func count(_ event: MaintenanceEvent) {
        counted.withLock { $0[event, default: 0] += 1 }
    }

    var counts: [MaintenanceEvent: Int] { counted.withLock { $0 } }
}
