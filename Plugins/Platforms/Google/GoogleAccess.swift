public import AssayCore
public import AssayKit

/// The keys by which a section names what may call one of Google's services, an API key or a service account, and for which project.
public struct GoogleAccessSettings: Decodable, Sendable, DescribedConfiguration {
    /// Where the API key is.
    public let apiKey: SecretReference?
    /// Where the key file of the service account is.
    public let serviceAccount: SecretReference?
    /// The URL that is called instead of Google's endpoint for access tokens.
    public let tokenURL: EndpointURL?

    /// The Cloud project that is meant; the app's project when absent.
    public let cloudProject: String?

    enum CodingKeys: String, CodingKey {
        case apiKey = "api_key"
        case serviceAccount = "service_account"
        case tokenURL = "token_url"
        case cloudProject = "cloud_project"
    }

    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "api_key": "The location of the API key that asks Google: `file:PATH` or `env:NAME`.",
        "service_account":
            "The location of the key file of the service account that asks Google: `file:PATH` or `env:NAME`.",
        "token_url": "The URL that is called instead of Google's endpoint for access tokens.",
        "cloud_project": PolicyKey(
            "The ID or the number of the Cloud project that is meant; the app's project when absent.",
            .pattern("^[A-Za-z0-9-]{2,63}$"), examples: ["example-project"]
        ).enforced("expected the ID or the number of a Cloud project") { text in
            (2...63).contains(text.utf8.count)
                && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
        },
    ]

    /// Groups of keys of which exactly one must be present.
    public static let alternatives = [["api_key", "service_account"]]
}

/// What authorises calls of one of Google's services: an API key, or the access tokens of a service account.
public struct GoogleAccess: Sendable {
    private enum Kind: Sendable {
        case apiKey(String)
        case account(GoogleAccessTokens)
    }

    private let kind: Kind

    /// What a section names.
    ///
    /// - `scope`: what access tokens are for, a URL.
    /// - Throws: the error at `api_key`, `service_account` or `token_url`; nothing of a secret.
    public init(
        _ settings: GoogleAccessSettings, scope: String, host: PluginHost
    ) throws(ConfigurationError) {
        switch (settings.apiKey, settings.serviceAccount) {
        case (let reference?, nil):
            kind = .apiKey(try host.secrets.requiredText(reference, at: ["api_key"]))
        case (nil, let reference?):
            guard let url = settings.tokenURL ?? EndpointURL(GoogleAccessTokens.standardURL) else {
                throw ConfigurationError(at: ["token_url"], "expected a URL")
            }
            let account = try GoogleServiceAccount.named(reference, secrets: host.secrets, at: ["service_account"])
            kind = .account(GoogleAccessTokens(of: account, at: url, scope: scope, host: host))
        default: throw ConfigurationError("expected one of `api_key` and `service_account`")
        }
    }

    /// That Google does not accept the service account; nil for an API key.
    public var problem: String? { if case .account(let tokens) = kind { tokens.problem } else { nil } }

    /// What authorises a request now; if the service did not accept `refused`, another one if there is one.
    ///
    /// - Throws: as `GoogleAccessTokens.header(_:insteadOf:)`.
    public func credential(_ context: ProviderContext, insteadOf refused: String?) async throws -> String {
        switch kind {
        case .apiKey(let key): key
        case .account(let tokens): try await tokens.header(context, insteadOf: refused)
        }
    }

    /// The header field with a credential: a key is never part of a URL, which may be logged.
    public func field(_ credential: String) -> OutboundHeader {
        if case .apiKey = kind {
            OutboundHeader("X-Goog-Api-Key", credential)
        } else {
            OutboundHeader("Authorization", credential)
        }
    }

    /// What an error means, of a service that says with 200 what is wrong with evidence.
    ///
    /// 400 is an invalid API key, or another mistake in the section: Google does not tell them apart by the status.
    public static func failure(_ response: OutboundResponse) -> UpstreamFailure {
        let status = response.json?["error"]?["status"]?.string
        return response.status == 400 && !status.isNil
            ? UpstreamFailure(.unauthorized, status) : UpstreamFailure(response, status)
    }
}
