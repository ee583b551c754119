public import Logging

/// What a plugin has from its surroundings: time, randomness, storage, secrets, a log, and a meter.
///
/// Tests put their own in place, set the clock and never sleep.
public struct Host: Sendable {
    public var clock: HostClock
    public var randomness: Randomness
    public var store: any StateStore
    public var secrets: SecretSource
    public var logger: Logger
    public var meter: Meter

    public init(
        clock: HostClock = .system, randomness: Randomness = .system, store: any StateStore,
        secrets: SecretSource = .system, logger: Logger, meter: Meter = .none
    ) {
        self.clock = clock
        self.randomness = randomness
        self.store = store
        self.secrets = secrets
        self.logger = logger
        self.meter = meter
    }
}
