public import AssayCore

/// The evidence of one decision with all that is needed to judge it again: the content of an encrypted record.
///
/// It has what the client sent, so it may have secrets, such as debug tokens, and the identifiers of devices. It never has
/// the credentials of callers, the token that was issued, or the client's address.
public struct CapturedEvidence: Sendable, Hashable {
    /// How the exchange ended.
    @nonexhaustive public enum Outcome: Sendable, Hashable {
        /// A token was issued.
        case issued
        /// The evidence was refused, for a reason with this code.
        case refused(ExactText)
    }

    /// A part that is missing because the record would be larger than the policy allows.
    @nonexhaustive public enum Part: String, Sendable, Hashable, CaseIterable {
        /// The request message.
        case body
        /// What the provider read of the state, and what it opened.
        case state
    }

    /// The identifier of the decision.
    public var decision: DecisionID
    /// The time at which the request was judged.
    public var time: Instant
    /// The canonical name of the app or OAuth client.
    @Exact public var resource: String
    /// The name of the provider.
    @Exact public var provider: String
    /// The name of the method.
    @Exact public var method: String
    /// The version of the API that was called.
    public var version: APIVersion
    /// The request message; null when it was left out.
    public var body: JSON
    /// The challenge that came with the evidence; nil for methods without one.
    public var challenge: [UInt8]?
    /// How the exchange ended.
    public var outcome: Outcome
    /// The explanation for operators; nil when there is nothing to add.
    @Exact public var detail: String?
    /// The rule of the policy that decided; nil for none.
    @Exact public var rule: String?
    /// Which deny list refused the evidence; nil when none did.
    public var denial: DenialSource?
    /// The policies that the evidence was judged by.
    @Exact public var revision: String
    /// What the state store answered to the provider, in order.
    public var state: [StateAnswer]
    /// What the provider opened of what this service had sealed, in order.
    public var opened: [OpenedData]
    /// What is missing.
    public var leftOut: Set<Part>

    /// Makes evidence; the kernel and tests use it.
    public init(
        decision: DecisionID, time: Instant, resource: String, provider: String, method: String,
        version: APIVersion = .v1, body: JSON, challenge: [UInt8]? = nil, outcome: Outcome, detail: String? = nil,
        rule: String? = nil, revision: String = "", state: [StateAnswer] = [], opened: [OpenedData] = [],
        leftOut: Set<Part> = []
    ) {
        self.decision = decision
        self.time = time
        self.version = version
        self.body = body
        self.challenge = challenge
        self.outcome = outcome
        self.state = state
        self.opened = opened
        self.leftOut = leftOut
        self.resource = resource
        self.provider = provider
        self.method = method
        self.detail = detail
        self.rule = rule
        self.revision = revision
    }

    /// The code of the reason; nil when a token was issued.
    public var reason: String? {
        if case .refused(let reason) = outcome { reason.string } else { nil }
    }
}

/// One answer of the state store to a provider.
public struct StateAnswer: Sendable, Hashable {
    /// What was asked and answered.
    @nonexhaustive public enum Operation: Sendable, Hashable {
        /// The value of an entry; nil when there was none.
        case get([UInt8]?)
        /// Whether an entry was written because there was none.
        case insert(Bool)
        /// Whether a counter was raised to a value because it was lower.
        case advance(to: UInt64, Bool)
    }

    /// The namespace, seen from the provider: `state` or `appState` of its context, or `plugin` for that of all its
    /// instances, and what follows it: `appState/managed`.
    @Exact public private(set) var space: String
    /// The name in the namespace.
    @Exact public private(set) var name: String
    /// What was asked and answered.
    public let operation: Operation

    /// Makes an answer.
    public init(_ space: String, _ name: String, _ operation: Operation) {
        self.operation = operation
        self.space = space
        self.name = name
    }
}

/// Data that a client brought, which this service had sealed.
public struct OpenedData: Sendable, Hashable {
    /// SHA-256 of the sealed bytes.
    public let digest: [UInt8]
    /// What was in them; nil when they could not be opened.
    public let content: [UInt8]?

    /// Makes the pair.
    public init(digest: [UInt8], content: [UInt8]?) {
        self.digest = digest
        self.content = content
    }
}
