internal import AssayCore
internal import AssayCrypto
internal import AssayGoogle
internal import AssayKit

/// Asks Google what a token says (`decodeIntegrityToken`), as a service account of the app's Cloud project.
struct PlayDecoder: Sendable {
    static let standardURL = "https://playintegrity.googleapis.com"
    static let scope = "https://www.googleapis.com/auth/playintegrity"
    /// The most calls for one token: each may need a new access token.
    static let callsPerToken = UpstreamInquiry.callsPerQuestion + 2 * GoogleAccessTokens.callsPerToken

    private static let responseLimit = 64 * 1024

    private let url: EndpointURL
    private let tokens: GoogleAccessTokens
    private let inquiry: UpstreamInquiry

    /// - Throws: the error in `service_account`, `base_url` or `token_url`.
    init(
        _ account: SecretReference, _ configuration: PlayIntegrityConfiguration, package: String, host: PluginHost
    ) throws(ConfigurationError) {
        guard let base = configuration.baseURL ?? EndpointURL(Self.standardURL),
            let url = base.appending("/v1/\(package):decodeIntegrityToken")
        else { throw ConfigurationError(at: ["base_url"], "expected a URL without a query") }
        guard let tokenURL = configuration.tokenURL ?? EndpointURL(GoogleAccessTokens.standardURL) else {
            throw ConfigurationError(at: ["token_url"], "expected a URL")
        }
        self.url = url
        tokens = GoogleAccessTokens(
            of: try GoogleServiceAccount.named(account, secrets: host.secrets, at: ["service_account"]), at: tokenURL,
            scope: Self.scope, host: host)
        inquiry = UpstreamInquiry(of: base, host: host, limited: PlayIntegrityReasons.limited)
    }

    /// That Google does not accept the service account.
    var problem: String? { tokens.problem ?? inquiry.problem }

    /// The payload of a token.
    ///
    /// - Throws: ``PlayRefusal`` when Google does not know the token; `CallFailure` when Google did not say.
    func decode(_ token: String, _ context: ProviderContext) async throws -> JSON {
        let digest = Hex.encode(SHA256.hash(Array(token.utf8)))
        let verdict = try await inquiry.ask(about: digest, context, hiding: [token]) { [tokens] refused in
            try await tokens.header(context, insteadOf: refused)
        } request: { [url] header in
            .json(
                url, ["integrityToken": .string(token)], headers: [OutboundHeader("Authorization", header)],
                responseLimit: Self.responseLimit)
        } read: { response in
            try Self.read(response)
        }
        switch verdict {
        case .refused(let detail): throw PlayRefusal(PlayIntegrityReasons.refused, detail)
        case .genuine(let payload): return payload
        }
    }

    private static func read(_ response: OutboundResponse) throws -> UpstreamVerdict<JSON> {
        guard response.status != 200 else {
            guard let payload = response.json?["tokenPayloadExternal"], payload.members != nil else {
                throw UpstreamFailure(.malformed, "200 without a payload")
            }
            return .genuine(payload)
        }
        let error = response.json?["error"]
        let words = PlayRefusal.quoted(error?["message"]?.string)
        // Google says so of a token that is not one, that is of another package, or that is too old.
        if response.status == 400, error?["status"]?.string.isExactly("INVALID_ARGUMENT") ?? false {
            return .refused(detail: words)
        }
        throw UpstreamFailure(response, error.map { _ in words })
    }
}
