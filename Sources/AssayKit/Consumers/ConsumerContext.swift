public import Logging

/// What a consumer has at hand while it answers one request.
public struct ConsumerContext: Sendable {
    /// The decision's identifier, under which logs and audit records can be found.
    public let decision: DecisionID
    /// The project whose policy has the consumer.
    public let project: ProjectIdentity
    /// The token, verified and good by the policy; nil for methods without one, and where the policy does not enforce it.
    public let token: VerifiedToken?
    /// The app that the token speaks for.
    public let app: AppIdentity?
    /// Whether this request uses the token up.
    public let consumesToken: Bool
    /// Why a request with no good token is let through; nil where nobody looked, or the token is good.
    public let unenforced: Reason?
    /// The user, where the request brought a JWT of an issuer that the section's `actors` names.
    public let actor: VerifiedActor?
    /// When the caller stops waiting. The kernel cancels the task then.
    public let deadline: Instant
    /// Who called, as far as the transport knows: an address; nil in a process.
    public let peer: String?
    /// The policy's name for the caller whose permission was checked; nil where none is demanded.
    public let caller: String?
    /// The time at which the request is judged: one reading for the whole decision.
    public let now: Instant
    /// The consumer's own corner of the state store, for this project.
    public let state: StateSpace
    /// What the kernel does with tokens for the consumer.
    public let tokens: ConsumerTokens
    /// A logger that carries the decision's identifier.
    public let logger: Logger

    public init(
        decision: DecisionID, project: ProjectIdentity, token: VerifiedToken? = nil, app: AppIdentity? = nil,
        consumesToken: Bool = false, unenforced: Reason? = nil, actor: VerifiedActor? = nil, deadline: Instant,
        peer: String? = nil, caller: String? = nil, now: Instant, state: StateSpace, tokens: ConsumerTokens,
        logger: Logger
    ) {
        self.decision = decision
        self.project = project
        self.token = token
        self.app = app
        self.consumesToken = consumesToken
        self.unenforced = unenforced
        self.actor = actor
        self.deadline = deadline
        self.peer = peer
        self.caller = caller
        self.now = now
        self.state = state
        self.tokens = tokens
        self.logger = logger
    }
}

/// What the kernel does with tokens for a consumer.
public struct ConsumerTokens: Sendable {
    /// A JWT that this service signed.
    public struct Own: Sendable, Hashable {
        /// `typ` of its header.
        public let type: String
        /// Its claims, an object; nothing of them is checked.
        public let claims: JSON

        public init(type: String, claims: JSON) {
            self.type = type
            self.claims = claims
        }
    }

    /// What an App Check token that came in a message turned out to be.
    public enum Finding: Sendable {
        case good(VerifiedToken, AppIdentity)
        case refused(Reason)
    }

    private let signing: @Sendable (_ type: String, _ claims: JSON) throws -> String
    private let reading: @Sendable (String) -> Own?
    private let inspecting: @Sendable (String, TokenDemand) async throws -> Finding

    public init(
        sign: @escaping @Sendable (_ type: String, _ claims: JSON) throws -> String,
        read: @escaping @Sendable (String) -> Own?,
        inspect: @escaping @Sendable (String, TokenDemand) async throws -> Finding
    ) {
        signing = sign
        reading = read
        inspecting = inspect
    }

    /// Signs a JWT by the key that signs App Check tokens.
    ///
    /// - Parameters:
    ///   - type: `typ` of the header, which tells the JWT from others; never `JWT`, which App Check tokens have.
    ///   - claims: an object.
    public func sign(type: String, claims: JSON) throws -> String {
        try signing(type, claims)
    }

    /// A JWT of this service with its signature verified by a published key; nil when it is something else. The caller
    /// judges the type and all claims, times included.
    public func own(_ token: String) -> Own? {
        reading(token)
    }

    /// Verifies an App Check token that came in a message, and consumes it where the demand says so.
    ///
    /// - Throws: when that cannot be decided now.
    public func inspect(_ token: String, _ demand: TokenDemand) async throws -> Finding {
        try await inspecting(token, demand)
    }
}
