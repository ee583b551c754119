import AssayCore
import AssayCrypto
import AssayKit

struct PageCheckProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        let secret: SecretReference
        let url: EndpointURL
    }

    struct Request: RequestMessage {
        let token: String
        init(_ fields: RequestFields) throws(InvalidRequest) {
            token = try fields.string("token")
            guard token.utf8.count <= 4096 else { throw InvalidRequest("the field 'token' has 4096 bytes at most") }
        }
    }

    static let refused = Reason("page_token_refused", "The service for pages does not vouch for the token.")
    static let used = Reason("page_token_used", "The token was exchanged before.")
    static let limited = Reason(
        "page_token_limited", "Many tokens of the client were refused: this one was not checked.")
    static let page = FactName("page_host")
    static let descriptor = PluginDescriptor.provider(
        name: "page_check", summary: "Tokens of pages that another service checks.", reasons: [refused, used, limited],
        facts: [page], metrics: UpstreamInquiry.metrics,
        limits: PluginLimits(outboundCalls: UpstreamInquiry.callsPerQuestion),
        answers: [UpstreamInquiry.limitedAnswer(limited)])
    static let methods: [ProviderMethod<PageCheckProvider>] = [
        .exchange("exchangePageToken") { (provider, request: Request, context) in
            try await provider.appraise(request.token, context)
        }
    ]

    private let url: EndpointURL
    private let secret: String
    private let inquiry: UpstreamInquiry

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        guard let secret = try? host.secrets.resolve(configuration.secret) else {
            throw ConfigurationError(at: ["secret"], "\(configuration.secret) cannot be read")
        }
        self.secret = String(decoding: secret, as: UTF8.self)
        url = configuration.url
        inquiry = UpstreamInquiry(of: configuration.url, host: host, limited: Self.limited)
    }

    func appraise(_ token: String, _ context: ProviderContext) async throws -> Verdict {
        let digest = Hex.encode(SHA256.hash(Array(token.utf8)))
        let verdict = try await inquiry.ask(about: digest, context, hiding: [token, secret]) { [url, secret] _ in
            .form(url, [("secret", secret), ("response", token)])
        } read: { response in
            guard response.status == 200, let answer = response.json, let isGood = answer["success"]?.bool else {
                throw UpstreamFailure(response)
            }
            return isGood ? .genuine(answer["hostname"]?.string) : .refused(detail: "the service says no")
        }
        switch verdict {
        case .refused(let detail): return .refused(Self.refused, detail: detail)
        case .genuine(let host):
            // A token tells no time here: it is remembered for ten minutes, and the service takes none that is older.
            let use = OneTimeUse(of: .untimed, in: context.state)
                .change(for: OneTimeThing(digest, untimedUntil: context.now + .seconds(600)))
            return .verified(
                Appraisal(
                    facts: host.map { [Fact(Self.page, cutting: $0)] } ?? [],
                    uses: [EvidenceUse(use, otherwise: Self.used)]))
        }
    }
}
