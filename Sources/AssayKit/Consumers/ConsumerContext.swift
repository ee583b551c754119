public import AssayCore
public import Logging

/// What a consumer can use while it answers one request.
public struct ConsumerContext: Sendable {
    /// The decision's identifier, under which logs and audit records can be found.
    public let decision: DecisionID
    /// The project whose policy has the consumer.
    public let project: ProjectIdentity
    /// The token, verified and accepted by the policy; nil for methods without one, and where it is not enforced.
    public let token: VerifiedToken?
    /// The app that the token speaks for.
    public let app: AppIdentity?
    /// Whether this request consumes the token.
    public let consumesToken: Bool
    /// What the policy, or an administrator, says of requests without a valid token; ENFORCED for methods without one.
    public let enforcement: EnforcementMode
    /// Why a request without a valid token is allowed; nil when the token is valid or was not checked.
    public let unenforced: Reason?
    /// The user, if the request brought a JWT of an issuer that the section's `actors` names.
    public let actor: VerifiedActor?
    /// When the caller stops waiting, and the kernel cancels the task.
    public let deadline: Instant
    /// The client's address, as the transport saw it; nil for calls within the process.
    public let peer: String?
    /// The policy's name for the caller whose permission was checked; nil where none is demanded.
    public let caller: String?
    /// The time at which the request is judged: one reading for the whole decision.
    public let now: Instant
    /// The consumer's namespace of the state store for this project.
    public let state: StateSpace
    /// The plugin's namespace for all projects together.
    public let pluginState: StateSpace
    /// The kernel's token operations for the consumer.
    public let tokens: any ConsumerTokens
    private let clock: HostClock
    /// The host's logger.
    private let base: Logger

    /// How long the caller still waits: zero when it waits no more.
    public var timeLeft: Duration { max(.zero, deadline - clock.now) }

    /// A logger that carries the decision's identifier, made on demand.
    public var logger: Logger { base.carrying(decision) }

    /// - Parameter clock: what ``timeLeft`` is measured by.
    package init(
        decision: DecisionID, project: ProjectIdentity, token: VerifiedToken? = nil, app: AppIdentity? = nil,
        consumesToken: Bool = false, enforcement: EnforcementMode = .enforced, unenforced: Reason? = nil,
        actor: VerifiedActor? = nil, deadline: Instant, peer: String? = nil, caller: String? = nil, now: Instant,
        state: StateSpace, pluginState: StateSpace, tokens: any ConsumerTokens, logger: Logger,
        clock: HostClock = .system
    ) {
        self.decision = decision
        self.project = project
        self.token = token
        self.app = app
        self.consumesToken = consumesToken
        self.enforcement = enforcement
        self.unenforced = unenforced
        self.actor = actor
        self.deadline = deadline
        self.peer = peer
        self.caller = caller
        self.now = now
        self.state = state
        self.pluginState = pluginState
        self.tokens = tokens
        base = logger
        self.clock = clock
    }
}
