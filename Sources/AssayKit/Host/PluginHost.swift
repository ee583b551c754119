public import Logging

/// What a plugin has from its surroundings: time, randomness, storage, secrets, calls to other servers, a log, and a
/// meter.
///
/// Tests put their own in place, set the clock and never sleep.
public struct PluginHost: Sendable {
    public var clock: HostClock
    public var randomness: Randomness
    public var store: any StateStore
    public var secrets: SecretSource
    public var http: any OutboundHTTP
    public var logger: Logger
    public var meter: Meter

    /// - Parameter http: what plugins call other servers with; by default every call fails.
    public init(
        clock: HostClock = .system, randomness: Randomness = .system, store: any StateStore,
        secrets: SecretSource = .system, http: any OutboundHTTP = NoOutboundHTTP(), logger: Logger,
        meter: Meter = .none
    ) {
        self.clock = clock
        self.randomness = randomness
        self.store = store
        self.secrets = secrets
        self.http = http
        self.logger = logger
        self.meter = meter
    }
}
