public import AssayCore

/// The record of one decision: enough to explain it afterwards, without secrets.
public struct DecisionRecord: Sendable {
    /// The most facts that a record keeps.
    package static let factLimit = 64

    /// How a call ended.
    @nonexhaustive public enum Outcome: Sendable {
        /// A challenge was issued.
        case challenged
        /// A token was issued.
        case issued(tokenID: String, limitedUse: Bool, expires: Instant)
        /// Evidence was refused.
        case refused(Reason)
        /// A call other than a challenge or an exchange was answered.
        case answered
        /// The request does not have the method's form, or names an unknown resource.
        case rejected(StatusCode)
        /// No decision could be made.
        case failed(StatusCode)
    }

    /// What was verified of the request.
    ///
    /// Any client can send unverified requests at any rate, so these are recorded one by one only up to a rate: see
    /// ``RecordLimits``.
    @nonexhaustive public enum Basis: Sendable, Hashable {
        /// Evidence, a token or a credential was verified, and something was decided.
        case verified
        /// The resource or the caller is known, but nothing was verified and decided.
        case known
        /// Nothing is known, and nothing was verified.
        case unknown
    }

    /// The identifier of the decision, which the client receives as well.
    public let decision: DecisionID
    /// When the call arrived.
    public let time: Instant
    /// How long the answer took.
    public let duration: Duration
    /// The name of the method.
    public let method: String
    /// The canonical resource name where it is known, otherwise the requested name, shortened.
    public let resource: String
    /// The provider; nil when the call did not get that far.
    public let provider: String?
    /// How the call ended.
    public let outcome: Outcome
    /// An explanation for operators, without secrets; nil when there is nothing to add.
    public let detail: String?
    /// The facts that the provider or the consumer found in the evidence.
    public let facts: [Fact]
    /// The client's address, as the transport saw it; nil when it is unknown.
    public let peer: String?
    /// The policy's name for the caller; nil if no permission is needed, or the caller has no credentials.
    public let caller: String?
    /// How the request is counted; nil if no token was required.
    public let tokenUse: TokenUse?
    /// Why the request would have been refused under the level `ENFORCED`; nil if nothing was wrong, or if it was
    /// refused.
    ///
    /// The outcome says whether it was allowed: other reasons may have prevented that.
    public let unenforced: Reason?
    /// The rules of the policy that the evidence matched.
    public let rules: RuleFindings
    /// The app ID or the OAuth client ID of the request, if a policy has it; otherwise nil.
    public let app: String?
    /// What was verified of the request.
    public let basis: Basis
    /// The policies that the request was judged by; nil where that is not known.
    public let revision: PolicyRevision?
    /// Which deny list refused the evidence; nil when none did.
    public var denial: DenialSource?
    /// The rule that led to the method, such as `POST /v1/{resource=projects/*/apps/*}:exchangeDebugToken`; nil within a process.
    public let route: String?

    /// Makes a record; sinks receive records from the engine, and tests make their own.
    public init(
        decision: DecisionID, time: Instant, duration: Duration, method: String, resource: String, provider: String?,
        outcome: Outcome, detail: String?, facts: [Fact], peer: String?, caller: String? = nil,
        tokenUse: TokenUse? = nil, unenforced: Reason? = nil, rules: RuleFindings = RuleFindings(), app: String? = nil,
        basis: Basis = .verified, revision: PolicyRevision? = nil, route: String? = nil
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
        self.rules = rules
        self.app = app
        self.basis = basis
        self.revision = revision
        self.route = route
    }
}

/// Where an entry of the deny list is.
@nonexhaustive public enum DenialSource: String, Sendable, Hashable, CaseIterable {
    /// In the files of the policies.
    case policies
    /// In the state of the server, where administrators added it; no file of the policies has it.
    case server
}

/// The rules of a policy that evidence matched, by their names.
public struct RuleFindings: Sendable, Hashable {
    /// The rule that decided; nil when none matched.
    public var decided: ExactText?
    /// The shadow rules that would have refused the evidence.
    public var wouldRefuse: [ExactText]

    /// By default, none.
    public init(decided: ExactText? = nil, wouldRefuse: [ExactText] = []) {
        self.decided = decided
        self.wouldRefuse = wouldRefuse
    }
}

/// Receives one record for each decision.
public protocol DecisionSink: Sendable {
    /// Called once for every decision, before its reply is returned; it must not block.
    func record(_ record: DecisionRecord)
    /// Called with the sum of decisions without records of their own. The default does nothing.
    func record(_ summary: DecisionSummary)
    /// Called with a change of the service itself. The default does nothing.
    ///
    /// The engine records `keysChanged`, `denyAdded` and `denyRemoved`. `assay serve` records the others, because only the program knows
    /// what it started with and which files it read: a program of your own that wants them on record calls this at its start (`started`),
    /// and after `Engine.replacePolicies(_:)` returned (`policiesChanged`) or threw (`policiesRefused`).
    func record(_ event: AuditEvent)
}

extension DecisionSink {
    /// Ignores the sum.
    public func record(_ summary: DecisionSummary) {}

    /// Ignores the change.
    public func record(_ event: AuditEvent) {}
}
