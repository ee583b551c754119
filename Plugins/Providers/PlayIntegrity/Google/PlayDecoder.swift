internal import AssayCore
internal import AssayCrypto
internal import AssayGoogle
internal import AssayKit

/// Asks Google what a token says (`decodeIntegrityToken`), and has it set the bits of a token's device (`deviceRecall:write`), as a service
/// account of the app's Cloud project.
struct PlayDecoder: Sendable {
    static let standardURL = "https://playintegrity.googleapis.com"
    static let scope = "https://www.googleapis.com/auth/playintegrity"
    /// The most calls for one token: each may need a new access token.
    static let callsPerToken = UpstreamInquiry.callsPerQuestion + 2 * GoogleAccessTokens.callsPerToken

    private static let responseLimit = 64 * 1024

    private let url: EndpointURL
    private let recallURL: EndpointURL
    private let tokens: GoogleAccessTokens
    private let inquiry: UpstreamInquiry

    /// - Throws: the error in `service_account`, `base_url` or `token_url`.
    init(
        _ account: SecretReference, _ configuration: PlayIntegrityConfiguration, package: String, host: PluginHost
    ) throws(ConfigurationError) {
        guard let base = configuration.baseURL ?? EndpointURL(Self.standardURL),
            let url = base.appending("/v1/\(package):decodeIntegrityToken"),
            let recallURL = base.appending("/v1/\(package)/deviceRecall:write")
        else { throw ConfigurationError(at: ["base_url"], "expected a URL without a query") }
        guard let tokenURL = configuration.tokenURL ?? EndpointURL(GoogleAccessTokens.standardURL) else {
            throw ConfigurationError(at: ["token_url"], "expected a URL")
        }
        self.url = url
        self.recallURL = recallURL
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
        try await ask(url, about: token, [], context) { response in
            guard let payload = response.json?["tokenPayloadExternal"], payload.members != nil else {
                throw UpstreamFailure(.malformed, "200 without a payload")
            }
            return payload
        } otherwise: { _ in
            nil
        }
    }

    /// Sets bits of a token's device.
    ///
    /// - Throws: ``PlayRefusal`` when Google does not accept the token; `CallFailure` when Google does not let the app set bits, or
    ///   did not answer.
    func write(_ change: SomeDeviceBits, of token: String, _ context: ProviderContext) async throws {
        let bits = zip(["bitFirst", "bitSecond", "bitThird"], change.values).compactMap { name, value in
            value.map { JSONMember(name, .bool($0)) }
        }
        let denial = try await ask(
            recallURL, about: token, [JSONMember("newValues", .object(bits))], context
        ) { response -> String? in
            guard response.json?.members != nil else { throw UpstreamFailure(.malformed, "200 without an object") }
            return nil
        } otherwise: { words in
            // Not of the credentials: the app takes no part in device recall, or the account has no right to it.
            .some(words)
        }
        if let denial { throw PlayIntegrityProvider.bitsNotAllowed(denial) }
    }

    /// Puts a question about a token.
    ///
    /// - Parameters:
    ///   - more: what is sent beside the token.
    ///   - read: what 200 says.
    ///   - denied: the answer where Google says that the account may not ask; nil if that says nothing but that the account is wrong.
    private func ask<Answer: Sendable>(
        _ url: EndpointURL, about token: String, _ more: [JSONMember], _ context: ProviderContext,
        read: @Sendable (OutboundResponse) throws -> Answer, otherwise denied: @Sendable (String) -> Answer?
    ) async throws -> Answer {
        let digest = Hex.encode(SHA256.hash(Array(token.utf8)))
        let body = JSON.object([JSONMember("integrityToken", .string(token))] + more)
        let verdict = try await inquiry.ask(about: digest, context, hiding: [token]) { [tokens] refused in
            try await tokens.header(context, insteadOf: refused)
        } request: { header in
            .json(url, body, headers: [OutboundHeader("Authorization", header)], responseLimit: Self.responseLimit)
        } read: { response in
            guard response.status != 200 else { return .genuine(try read(response)) }
            let error = response.json?["error"]
            let words = PlayRefusal.quoted(error?["message"]?.string)
            let status = error?["status"]?.string
            // Google says so of a token that is not one, that is of another package, or that is too old.
            if response.status == 400, status.isExactly("INVALID_ARGUMENT") { return .refused(detail: words) }
            if response.status == 403, status.isExactly("PERMISSION_DENIED"), let answer = denied(words) {
                return .genuine(answer)
            }
            throw UpstreamFailure(response, error.map { _ in words })
        }
        switch verdict {
        case .refused(let detail): throw PlayRefusal(PlayIntegrityReasons.refused, detail)
        case .genuine(let answer): return answer
        }
    }
}
