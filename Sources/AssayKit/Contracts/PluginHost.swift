public import AssayCore
public import AssayState
public import Logging

/// What the host supplies to a plugin: time, randomness, storage, secrets, outbound calls, a log and a meter.
///
/// Tests supply their own, set the clock and never sleep.
public struct PluginHost: Sendable {
    /// The clock.
    public var clock: HostClock
    /// The source of random bytes.
    public var randomness: Randomness
    /// The state store.
    public var store: any StateStore
    /// The source of secrets.
    public var secrets: SecretSource
    /// The client for calls to other servers.
    public var http: any OutboundHTTP
    /// The logger.
    public var logger: Logger
    /// Where metrics are recorded.
    public var meter: Meter

    /// Makes a host; by default with the system's clock and randomness.
    ///
    /// - `http`: what plugins call other servers with; by default every call fails.
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
