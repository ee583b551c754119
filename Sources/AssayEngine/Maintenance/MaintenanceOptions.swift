public import AssayKit

/// How an engine runs the maintenance of its providers.
public struct MaintenanceOptions: Sendable {
    /// How many runs there may be at once, of all apps together.
    public var concurrency: Int
    /// How often policies are looked at that may have changed.
    public var round: Duration
    /// How long a provider is left alone that fails again and again; never shorter than its interval.
    public var longestPause: Duration
    /// Told of each run, after it; it must not block.
    public var onRun: @Sendable (MaintenanceRecord) -> Void

    public init(
        concurrency: Int = 4, round: Duration = .seconds(10), longestPause: Duration = .seconds(3600),
        onRun: @escaping @Sendable (MaintenanceRecord) -> Void = { _ in }
    ) {
        self.concurrency = concurrency
        self.round = round
        self.longestPause = longestPause
        self.onRun = onRun
    }
}
