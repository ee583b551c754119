import AssayCore
import AssayCrypto
import AssayKit

struct PageCheckProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        let secret: SecretReference
        let url: EndpointURL
        let hostnames: [String]
    }

    struct Request: RequestMessage {
        let token: String
        init(_ fields: RequestFields) throws(InvalidRequest) {
            token = try fields.string("token")
            guard token.utf8.count <= 4096 else { throw InvalidRequest("the field 'token' has 4096 bytes at most") }
        }
    }

    struct Answer: Sendable {
        let hostname: String
        let solved: Instant
    }

    static let refused = Reason("page_token_refused", "The service for pages does not vouch for the token.")
    static let otherHost = Reason("page_host_wrong", "The token is of a page that the policy does not list.")
    static let tooOld = Reason("page_token_too_old", "The page's challenge was solved more than five minutes ago.")
    static let used = Reason("page_token_used", "The token was exchanged before.")
    static let limited = Reason(
        "page_token_limited", "Many tokens of the client were refused: this one was not checked.")
    static let page = FactName("page_host")
    static let descriptor = PluginDescriptor.provider(
        name: "page_check", summary: "Tokens of pages that another service checks.",
        reasons: [refused, otherHost, tooOld, used, limited], facts: [page], metrics: UpstreamInquiry.metrics,
        limits: PluginLimits(outboundCalls: UpstreamInquiry.callsPerQuestion),
        answers: [UpstreamInquiry.limitedAnswer(limited)])
    static let methods: [ProviderMethod<PageCheckProvider>] = [
        .exchange("exchangePageToken") { (provider, request: Request, context) in
            try await provider.appraise(request.token, context)
        }
    ]

    private static let kind = OneTimeKind(validFor: .seconds(300))
    private let url: EndpointURL
    private let secret: String
    private let hostnames: Set<ExactText>
    private let randomness: Randomness
    private let inquiry: UpstreamInquiry

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        secret = try host.secrets.requiredText(configuration.secret, at: ["secret"])
        url = configuration.url
        hostnames = Set(exactly: configuration.hostnames)
        randomness = host.randomness
        inquiry = UpstreamInquiry(of: configuration.url, host: host, limited: Self.limited)
    }

    /// A secret that the service does not accept: `/readyz` says so.
    var problem: String? { inquiry.problem }

    func appraise(_ token: String, _ context: ProviderContext) async throws -> Verdict {
        let digest = Hex.encode(SHA256.hash(Array(token.utf8)))
        let key = UUID4.text(randomness)
        let verdict = try await inquiry.ask(about: digest, context, isIdempotent: true, hiding: [token, secret]) {
            [url, secret] _ in
            .form(url, [("secret", secret), ("response", token), ("idempotency_key", key)])
        } read: { response in
            try Self.read(response)
        }
        switch verdict {
        case .refused(let detail): return .refused(Self.refused, detail: detail)
        case .genuine(let answer): return judge(answer, digest, context)
        }
    }

    private func judge(_ answer: Answer, _ digest: String, _ context: ProviderContext) -> Verdict {
        let facts = [Fact(Self.page, cutting: answer.hostname)]
        guard hostnames.contains(answer.hostname) else { return .refused(Self.otherHost, facts: facts) }
        guard Self.kind.isValid(made: answer.solved, at: context.now) else {
            return .refused(Self.tooOld, detail: "solved at \(answer.solved)", facts: facts)
        }
        // The service knows no apps: a token is used up for all of them.
        let uses = OneTimeUse(of: Self.kind, in: context.pluginState)
        let thing = OneTimeThing(digest, made: answer.solved)
        guard !uses.isOlderThanState(thing) else { return .refused(Self.used, detail: "older than the state") }
        return .verified(Appraisal(facts: facts, uses: [EvidenceUse(uses.change(for: thing), otherwise: Self.used)]))
    }

    /// What a response says; whatever is not clearly about the token decides nothing.
    private static func read(_ response: OutboundResponse) throws -> UpstreamVerdict<Answer> {
        guard response.status == 200, let answer = response.json, let isGood = answer["success"]?.bool else {
            throw UpstreamFailure(response)
        }
        guard isGood else {
            let codes = (answer["error-codes"]?.array ?? []).compactMap(\.string)
            if codes.contains(exactly: "invalid-input-secret") { throw UpstreamFailure(.unauthorized) }
            guard codes.contains(exactly: "invalid-input-response") else { throw UpstreamFailure(.requestRefused) }
            return .refused(detail: "the service says no")
        }
        guard let hostname = answer["hostname"]?.string,
            let solved = answer["challenge_ts"]?.string.flatMap({ Instant(rfc3339: $0) })
        else { throw UpstreamFailure(.malformed) }
        return .genuine(Answer(hostname: hostname, solved: solved))
    }
}
