public import Logging
internal import Synchronization

/// What a provider has at hand while it does its ``Upkeep`` for one app.
public struct UpkeepContext: Sendable {
    /// The app whose policy names the provider.
    public let app: AppIdentity
    public let clock: HostClock
    /// When the run's task is cancelled.
    public let deadline: Instant
    /// The provider's own corner of the state store, for this app: the one that calls see.
    public let state: StateSpace
    public let logger: Logger
    private let tally = UpkeepTally()

    public init(app: AppIdentity, clock: HostClock, deadline: Instant, state: StateSpace, logger: Logger) {
        self.app = app
        self.clock = clock
        self.deadline = deadline
        self.state = state
        self.logger = logger
    }

    /// Counts something that happened; what was counted stands in the run's ``UpkeepRecord``.
    public func count(_ event: UpkeepEvent) {
        tally.count(event)
    }

    /// What was counted so far.
    public var counts: [UpkeepEvent: Int] { tally.counts }
}

/// Something that upkeep counts: a stable code for logs and metric labels, of which a plugin has a few.
public struct UpkeepEvent: Sendable, Hashable, CustomStringConvertible {
    /// Lower-case words joined by underscores. It never changes its meaning.
    @Exact public private(set) var code: String

    public init(_ code: String) {
        self.code = code
    }

    public var description: String { code }
}

private final class UpkeepTally: Sendable {
    private let counted = Mutex<[UpkeepEvent: Int]>([:])

    func count(_ event: UpkeepEvent) {
        counted.withLock { $0[event, default: 0] += 1 }
    }

    var counts: [UpkeepEvent: Int] { counted.withLock { $0 } }
}
