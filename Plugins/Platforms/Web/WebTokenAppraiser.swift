public import AssayCore
internal import AssayCrypto
public import AssayKit
internal import Synchronization

/// A service that knows whether the token of a page is genuine: its requests, and the meaning of its answers.
public protocol WebTokenUpstream: Sendable {
    /// What is called. All apps that call one URL share its bounds and its circuit breaker.
    var url: EndpointURL { get }

    /// Whether the service gives all questions with one ``WebTokenQuestion/key`` one answer.
    var isIdempotent: Bool { get }

    /// What authorises a request now; if the service did not accept `refused`, a different one if there is one.
    func credential(_ context: ProviderContext, insteadOf refused: String?) async throws -> String

    /// The request for a question; the appraiser sets its time limit.
    func request(_ question: WebTokenQuestion, credential: String) throws -> OutboundRequest

    /// The meaning of an answer.
    ///
    /// - Throws: `UpstreamFailure` for an answer that is not clearly about the token, `.unauthorized` for what only the operator can
    ///   correct.
    func read(_ response: OutboundResponse) throws -> WebTokenVerdict
}

extension WebTokenUpstream {
    /// No key makes questions one.
    public var isIdempotent: Bool { false }
}

/// What a service is asked.
public struct WebTokenQuestion: Sendable {
    /// The token, as it came.
    @Exact public private(set) var token: String
    /// A UUID, the same for all tries of one question.
    @Exact public private(set) var key: String
    /// The client's address; nil if the service is not to learn it.
    @Exact public private(set) var address: String?
}

/// Appraises tokens of pages: the whole of a provider except its name and its configuration.
///
/// A provider for another service is a ``WebTokenUpstream``, which defines the requests and the meaning of the answers, and an
/// `AttestationProvider` that forwards its requests to an appraiser. Limits, deadlines, tries, the circuit breaker, hosts, actions, ages,
/// scores and the one use are the same for all.
public struct WebTokenAppraiser: Sendable {
    /// The limits of a provider, for its descriptor.
    ///
    /// - `token`: the most bytes of a token.
    /// - `calls`: the most calls to other servers for one token.
    public static func limits(token: Int, calls: Int = UpstreamInquiry.callsPerQuestion) -> PluginLimits {
        PluginLimits(evidence: token, concurrentCalls: 10_000, outboundCalls: calls, storeWrites: 1, reply: 4096)
    }

    private let upstream: any WebTokenUpstream
    private let rules: WebTokenRules
    private let reasons: WebTokenReasons
    private let randomness: Randomness
    private let inquiry: UpstreamInquiry

    /// Makes an appraiser for one app.
    public init(_ upstream: any WebTokenUpstream, _ rules: WebTokenRules, _ reasons: WebTokenReasons, host: PluginHost)
    {
        self.upstream = upstream
        self.rules = rules
        self.reasons = reasons
        randomness = host.randomness
        inquiry = UpstreamInquiry(of: upstream.url, host: host, limited: reasons[.limited])
    }

    /// That the service did not accept the secret, for the provider's own `problem`; nil if it did.
    public var problem: String? { inquiry.problem }

    /// Whether a token is genuine, new, and as the policy demands.
    ///
    /// - Throws: `CallFailure` with `UNAVAILABLE` and a time to come back at when the service did not decide, with
    ///   `RESOURCE_EXHAUSTED` when it refused many tokens of the peer.
    public func appraise(_ token: String, _ context: ProviderContext) async throws -> Verdict {
        // A service may take other characters for nothing, and so two tokens for one.
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return .refused(reasons[.refused], detail: "it has other characters than the visible ones of ASCII")
        }
        let digest = Hex.encode(SHA256.hash(Array(token.utf8)))
        // What was exchanged here costs no question.
        if try await Self.uses(context).isUsed(Self.thing(digest, context.now)) {
            inquiry.countRefusal(context)
            return .refused(reasons[.used])
        }
        let question = WebTokenQuestion(
            token: token, key: UUID4.text(randomness), address: rules.sendsAddress ? context.peer : nil)
        let problem = Mutex(WebTokenProblem.refused)
        let verdict = try await inquiry.ask(
            about: digest, context, isIdempotent: upstream.isIdempotent, hiding: [token]
        ) { [upstream] refused in
            try await upstream.credential(context, insteadOf: refused)
        } request: { [upstream] credential in
            try upstream.request(question, credential: credential)
        } read: { [upstream] response in
            switch try upstream.read(response) {
            case .genuine(let answer): return UpstreamVerdict.genuine(answer)
            case .refused(let found, let detail):
                problem.withLock { $0 = found }
                return .refused(detail: detail)
            }
        }
        switch verdict {
        case .refused(let detail): return .refused(reasons[problem.withLock { $0 }], detail: detail)
        case .genuine(let answer):
            let verdict = judge(answer, digest, context)
            if case .refused = verdict { inquiry.countRefusal(context) }
            return verdict
        }
    }

    private func judge(_ answer: WebTokenAnswer, _ digest: String, _ context: ProviderContext) -> Verdict {
        let facts = WebTokenFacts.of(answer, at: context.now)
        if let (problem, detail) = rules.problem(of: answer, at: context.now) {
            return .refused(reasons[problem], detail: detail, facts: facts)
        }
        let use = Self.uses(context).change(for: Self.thing(digest, max(answer.made, context.now)))
        return .verified(Appraisal(facts: facts, uses: [EvidenceUse(use, otherwise: reasons[.used])]))
    }

    /// The uses of tokens, which need not tell their time to the state.
    ///
    /// The service answers one question about a token, and again only with the same key: what was used before the state began gets no answer
    /// there.
    private static func uses(_ context: ProviderContext) -> OneTimeUse {
        OneTimeUse(of: .untimed, in: context.pluginState.subspace("tokens"))
    }

    private static func thing(_ digest: String, _ made: Instant) -> OneTimeThing {
        OneTimeThing(digest, untimedUntil: made + WebTokenRules.ages.upperBound + margin)
    }

    /// How much longer than valid a use is remembered, in case a clock is set back.
    private static let margin = Duration.seconds(300)
}

/// A request that is the token of a page, and nothing else: a type has its name, and the memberwise initialiser.
///
///     struct TurnstileTokenRequest: WebTokenMessage {
///         static let (field, limit) = ("turnstileToken", 2048)
///         let token: String
///     }
public protocol WebTokenMessage: RequestMessage {
    /// The name of the field in lowerCamelCase.
    static var field: String { get }
    /// The most bytes of a token.
    static var limit: Int { get }
    /// The token.
    var token: String { get }
    /// The request for a token.
    init(token: String)
}

extension WebTokenMessage {
    /// The one field.
    public static var shape: MessageShape? { [.required(field, .textOfLength(1...limit))] }

    /// Reads the field.
    public init(_ fields: RequestFields) throws(InvalidRequest) {
        let token = try fields.string(Self.field)
        guard token.utf8.count <= Self.limit else {
            throw InvalidRequest("the field '\(Self.field)' is too large: \(Self.limit) bytes at most")
        }
        self.init(token: token)
    }
}
