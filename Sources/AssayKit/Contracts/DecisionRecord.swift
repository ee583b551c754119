/// What is kept of one decision: enough to explain it afterwards, and no secret.
public struct DecisionRecord: Sendable {
    /// How a call ended.
    public enum Outcome: Sendable {
        /// A challenge was handed out.
        case challenged
        /// A token was issued.
        case issued(tokenID: String, limitedUse: Bool, expires: Instant)
        /// Evidence was refused.
        case refused(Reason)
        /// A call was answered that is neither a challenge nor an exchange.
        case answered
        /// The request was not of the method's form, or names what there is not.
        case rejected(StatusCode)
        /// No decision could be made.
        case failed(StatusCode)
    }

    /// What stands behind a record. What nothing verified stands behind anybody can cause as often as a network carries it,
    /// and so it is put on record one by one only up to a rate: see ``RecordLimits``.
    public enum Basis: Sendable, Hashable {
        /// Evidence, a token or a credential was verified, and something was decided.
        case verified
        /// A known resource or caller, and nothing that was verified and decided.
        case known
        /// Neither.
        case unknown
    }

    public let decision: DecisionID
    /// When the call came in.
    public let time: Instant
    /// How long the answer took.
    public let duration: Duration
    public let method: String
    /// The canonical resource name where it is known, else what the caller asked for, shortened.
    public let resource: String
    /// The provider; nil when the call did not get that far.
    public let provider: String?
    public let outcome: Outcome
    public let detail: String?
    public let facts: [Fact]
    public let peer: String?
    /// The policy's name for the caller; nil where no permission is demanded, or nobody showed one.
    public let caller: String?
    /// How the request that the decision is about is counted; nil where no token was to be shown.
    public let tokenUse: TokenUse?
    /// Why the request would have been refused, had the level of what it is for been ENFORCED; nil where nothing was wrong, or
    /// where it was refused. Whether it was let through after all is said by the outcome: there may be other reasons against it.
    public let unenforced: Reason?
    /// The app ID or the OAuth client ID that it is about, where a policy has it; nil where it is about none, or none that is
    /// known.
    public let app: String?
    /// What stands behind it.
    public let basis: Basis

    public init(
        decision: DecisionID, time: Instant, duration: Duration, method: String, resource: String, provider: String?,
        outcome: Outcome, detail: String?, facts: [Fact], peer: String?, caller: String? = nil,
        tokenUse: TokenUse? = nil, unenforced: Reason? = nil, app: String? = nil, basis: Basis = .verified
    ) {
        self.decision = decision
        self.time = time
        self.duration = duration
        self.method = method
        self.resource = resource
        self.provider = provider
        self.outcome = outcome
        self.detail = detail
        self.facts = facts
        self.peer = peer
        self.caller = caller
        self.tokenUse = tokenUse
        self.unenforced = unenforced
        self.app = app
        self.basis = basis
    }
}

/// Receives one record a decision.
public protocol DecisionSink: Sendable {
    /// Called once for every decision, before its reply is returned; it must not block.
    func record(_ record: DecisionRecord)
    /// Called with the sum of decisions that have no records of their own. By default nothing is done.
    func record(_ summary: DecisionSummary)
}

extension DecisionSink {
    public func record(_ summary: DecisionSummary) {}
}
