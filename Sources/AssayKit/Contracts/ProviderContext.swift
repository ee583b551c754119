public import AssayCore
public import Logging

/// What a provider can use while it appraises one piece of evidence.
public struct ProviderContext: Sendable {
    /// The decision's identifier, under which logs and audit records can be found.
    public let decision: DecisionID
    /// The app that the evidence must prove.
    public let app: AppIdentity
    /// The challenge that the kernel redeemed for this request; nil for methods without one.
    public let challenge: [UInt8]?
    /// When the caller stops waiting.
    ///
    /// The kernel cancels the task then.
    public let deadline: Instant
    /// The client's address, as the transport saw it; nil for calls within the process.
    public let peer: String?
    private let wasVerified: @Sendable (PeerGroup) -> Bool
    /// The policy's name for the caller whose permission was checked; nil where none is demanded.
    public let caller: String?
    /// The time at which the request is judged: one reading for the whole decision.
    public let now: Instant
    /// The provider's namespace of the state store for this app.
    public let state: StateSpace
    /// The namespace of the app that an OAuth client is linked to, which its clients share; for an app, ``state``.
    public let appState: StateSpace
    /// The plugin's namespace for all apps together, for what may be used once wherever it is used.
    public let pluginState: StateSpace
    /// Seals data that clients keep for the provider, for this app.
    public let sealer: Sealer
    private let clock: HostClock
    /// The host's logger.
    private let base: Logger

    /// How long the caller still waits: zero when it waits no more.
    public var timeLeft: Duration { max(.zero, deadline - clock.now) }

    /// A logger that carries the decision's identifier.
    ///
    /// It is made on demand, because few requests are logged.
    public var logger: Logger { base.carrying(decision) }

    /// The group of peers that the request counts for in limits on unverified requests.
    public var peerGroup: PeerGroup { PeerGroup(peer) }

    /// Whether evidence of this peer was verified recently for this app, which gives it priority under limits.
    public var peerWasVerified: Bool { wasVerified(peerGroup) }

    /// - Parameters:
    ///   - clock: what ``timeLeft`` is measured by.
    ///   - logger: the host's.
    ///   - wasVerified: whether evidence of a peer was verified recently, for this app.
    package init(
        decision: DecisionID, app: AppIdentity, challenge: [UInt8]?, deadline: Instant, peer: String?,
        caller: String? = nil, now: Instant, state: StateSpace, appState: StateSpace? = nil,
        pluginState: StateSpace, sealer: Sealer,
        logger: Logger, clock: HostClock = .system,
        wasVerified: @escaping @Sendable (PeerGroup) -> Bool = { _ in false }
    ) {
        self.decision = decision
        self.app = app
        self.challenge = challenge
        self.deadline = deadline
        self.peer = peer
        self.caller = caller
        self.now = now
        self.state = state
        self.appState = appState ?? state
        self.pluginState = pluginState
        self.sealer = sealer
        base = logger
        self.clock = clock
        self.wasVerified = wasVerified
    }
}

extension Logger {
    /// The same logger for one decision.
    func carrying(_ decision: DecisionID) -> Logger {
        var logger = self
        logger[metadataKey: "decision"] = "\(decision)"
        return logger
    }
}

/// Seals bytes that a client keeps and sends back: only this service can read them, and only for the same app and
/// provider.
///
/// Sealed bytes stay readable across restarts and rotations of the sealing key.
public struct Sealer: Sendable {
    private let sealing: @Sendable ([UInt8]) throws -> [UInt8]
    private let opening: @Sendable ([UInt8]) -> [UInt8]?

    /// Makes a sealer from two closures; `open` returns nil for bytes that `seal` did not make.
    public init(
        seal: @escaping @Sendable ([UInt8]) throws -> [UInt8], open: @escaping @Sendable ([UInt8]) -> [UInt8]?
    ) {
        self.sealing = seal
        self.opening = open
    }

    /// Seals bytes.
    public func seal(_ plaintext: [UInt8]) throws -> [UInt8] {
        try sealing(plaintext)
    }

    /// The bytes that were sealed; nil when this service did not seal them for this app and provider.
    public func open(_ sealed: [UInt8]) -> [UInt8]? {
        opening(sealed)
    }
}
