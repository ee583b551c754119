public import AssayCore
public import AssayKit

/// What ``TokenConsumerSuite`` needs to know of a consumer, from its author.
public struct ConsumerSubject: Sendable {
    /// A kind of request to the consumer, and the simulated client that makes genuine ones.
    public struct Request: Sendable {
        /// What it is, for findings: the method, and what tells it from others of the same method.
        public var name: String
        /// Why a request without a good App Check token may be accepted; nil when it may not.
        public var withoutToken: String?
        /// Why the same limited-use token may be presented more than once; nil when it may not.
        public var reuse: String?
        /// Why the demand `tokens` of the section does not count for this request; nil when it does.
        public var withoutDemand: String?
        /// Requests that must be refused, or why there are none: each kind of ``Adversary/ofConsumers``, and any kinds of the
        /// consumer's own.
        public var adversaries: [Adversary: AdversaryEvidence<TestClient, Call>]
        /// Makes a genuine call.
        public var call: @Sendable (TestClient) async throws -> Call

        /// Describes a kind of request.
        public init(
            _ name: String, withoutToken: String? = nil, reuse: String? = nil, withoutDemand: String? = nil,
            adversaries: [Adversary: AdversaryEvidence<TestClient, Call>] = [:],
            call: @escaping @Sendable (TestClient) async throws -> Call
        ) {
            self.name = name
            self.withoutToken = withoutToken
            self.reuse = reuse
            self.withoutDemand = withoutDemand
            self.adversaries = adversaries
            self.call = call
        }
    }

    /// The kinds of requests.
    public var requests: [Request]
    /// The consumer's section in the policy of a project, as YAML from its first column.
    public var section: @Sendable (TestApp) -> String
    /// Sections that must be refused, each with `# wrong` at the end of the line that the error must name.
    public var wrongSections: [String]
    /// A section under which every genuine request is refused, although its token is good: what a policy says after a change;
    /// nil for a consumer that has none.
    public var refusingSection: String?
    /// The callers of the policy, as YAML from the first column: `backend: {sha256: …, permissions: […]}`.
    public var callers: String
    /// Where the consumer's secrets come from.
    public var secrets: SecretSource
    /// Further texts that must not appear in messages, records and logs; what `secrets` gave is looked for in any case, as text, in
    /// hexadecimal digits and in Base 64.
    public var secretTexts: [String]
    /// The genuine answers of other servers; nil for a consumer that calls none.
    public var upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)?
    /// How those servers say "no", each of which must be a refusal with a declared reason.
    public var denials: [UpstreamDenial]
    /// Why those servers never say "no"; nil when they do, or for a consumer that calls none.
    public var noDenials: String?
    /// What those servers say when nothing is to be decided, such as that the operator's secret is wrong.
    public var undecided: [UpstreamDenial]
    /// Members of the genuine answers, such as `result.score`, that may be absent or have any value, each with the reason, such
    /// as that nothing relies on it.
    public var optionalMembers: [String: String]
    /// The default, which modules without dictionaries of their own can use.
    @usableFromInline static let noOptionalMembers: [String: String] = [:]

    /// Describes a consumer.
    public init(
        requests: [Request], section: @escaping @Sendable (TestApp) -> String, wrongSections: [String] = [],
        refusingSection: String? = nil, callers: String = "", secrets: SecretSource = SecretSource { _ in nil },
        secretTexts: [String] = [], upstream: (@Sendable (OutboundRequest) async -> OutboundResponse)? = nil,
        denials: [UpstreamDenial] = [], noDenials: String? = nil, undecided: [UpstreamDenial] = [],
        optionalMembers: [String: String] = ConsumerSubject.noOptionalMembers
    ) {
        self.refusingSection = refusingSection
        self.denials = denials
        self.noDenials = noDenials
        self.undecided = undecided
        self.optionalMembers = optionalMembers
        self.requests = requests
        self.section = section
        self.wrongSections = wrongSections
        self.callers = callers
        self.secrets = secrets
        self.secretTexts = secretTexts
        self.upstream = upstream
    }
}

/// A simulated client that is to make a genuine request.
public struct TestClient: Sendable {
    /// The app whose token the client has.
    public let app: TestApp
    /// Which client it is: 0, 1 and so on.
    public let number: Int
    /// The client's App Check token; where a check wants a bad one, that.
    public let token: String
    /// Whether the token is good.
    public let hasGoodToken: Bool
    /// The present time.
    public let now: Instant
    /// Gets another token of the same app: a limited-use one, or one of an OAuth client of the policy.
    public let makeToken: @Sendable (_ resource: String, _ limitedUse: Bool) async throws -> String
    /// Makes another call before, and returns its reply.
    public let call: @Sendable (Call) async throws -> JSON
}
