internal import AssayCore
internal import AssayYAML

/// An entry of `apps` of a project; its other keys are the sections of platforms.
struct AppSection: DescribedConfiguration {
    let id: Checked<String>
    let name: Checked<String>?
    let profile: Checked<String>?
    let tokenLifetime: Checked<Duration>?
    let rateLimit: Checked<RateLimit>?
    let providers: Undecoded<Never>?
    let rules: Undecoded<[RuleSection]>?
    let capture: Checked<CapturePolicy.Decisions>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, profile
        case tokenLifetime = "token_ttl"
        case rateLimit = "rate_limit"
        case providers, rules, capture
    }

    static let keys: [ExactText: PolicyKey] = [
        "id": PolicyKey(
            "The Firebase app ID.", .pattern("^(?=.{1,200}$)[0-9]+:[0-9]+:[A-Za-z0-9]+:[A-Za-z0-9]+$"),
            examples: [example]
        ).enforced("expected an app ID such as 1:1234567890:ios:321abc456def7890", where: Identifiers.isAppID),
        "name": "The app's name for people.",
        "profile": "The profile whose keys lie beneath those of the app.",
        "token_ttl": ProviderSection.tokenLifetime("The lifetime of tokens, if a provider's section does not set it."),
        "rate_limit": """
        The rate limit of calls for the app by devices; callers with a permission do not count. Each server counts on \
        its own.
        """,
        "providers": "The kinds of evidence that the app's tokens are issued for.",
        "rules": """
        Rules over the facts that providers find, for evidence that they have verified: the first that matches decides.
        """,
        "capture": "Which evidence of the app is captured; when absent, what the section `capture` says.",
    ]

    static let example: JSON = "1:1234567890:ios:321abc456def7890"
}

/// The keys of an app that the kernel reads itself; no platform's section can have one of these names.
package enum AppKeys {
    package static let all = AppSection.CodingKeys.names
}

/// An entry of `oauth_clients` of a project.
struct OAuthClientSection: DescribedConfiguration {
    let id: Checked<String>
    let name: Checked<String>?
    let app: Checked<String>
    let tokenLifetime: Checked<Duration>?
    let rateLimit: Checked<RateLimit>?
    let providers: Undecoded<Never>?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case id, name, app
        case tokenLifetime = "token_ttl"
        case rateLimit = "rate_limit"
        case providers
    }

    static let keys: [ExactText: PolicyKey] = [
        "id": PolicyKey(
            "The OAuth client ID.", .pattern("^[A-Za-z0-9._-]{1,200}$"),
            examples: ["1234567890-example.apps.googleusercontent.com"]
        ).enforced("expected an OAuth client ID", where: Identifiers.isOAuthClientID),
        "name": "The client's name for people.",
        "app": PolicyKey(
            "The app ID of the app it is linked to, whose platform sections and providers it uses.",
            examples: [AppSection.example]),
        "token_ttl": ProviderSection.tokenLifetime("The lifetime of tokens, for a client with its own providers."),
        "rate_limit":
            "The rate limit of calls for the client; when absent, its app's limit, counted separately.",
        "providers": "The client's own providers, instead of its app's.",
    ]
}
