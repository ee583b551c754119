public import AssayCore
public import Logging

/// What the host supplies to a store, a sink or a key vault: time, randomness, secrets, outbound calls, a log and a meter.
public struct StorageHost: Sendable {
    /// The clock.
    public var clock: HostClock
    /// The source of random bytes.
    public var randomness: Randomness
    /// The source of secrets: a location holds references such as `env:NAME`, never secrets.
    public var secrets: SecretSource
    /// The client for calls to other servers.
    public var http: any OutboundHTTP
    /// The logger.
    public var logger: Logger
    /// Where metrics are recorded.
    public var meter: Meter
    /// The service's state store, for a key vault that says so (``KeyVaultPlugin/usesState``); nil where none is open.
    public var state: (any StateStore)?

    /// Makes a host; by default with the system's clock, randomness and secrets and the process's log, without calls to
    /// other servers, a meter and a state store.
    public init(
        clock: HostClock = .system, randomness: Randomness = .system, secrets: SecretSource = .system,
        http: any OutboundHTTP = NoOutboundHTTP(),
        logger: Logger = Logger(label: "assay.storage"), meter: Meter = .none, state: (any StateStore)? = nil
    ) {
        self.state = state
        self.clock = clock
        self.randomness = randomness
        self.secrets = secrets
        self.http = http
        self.logger = logger
        self.meter = meter
    }
}
