public import AssayCore

/// A policy's demand on App Check tokens in addition to their validity.
///
///     limited_use: true                     # only tokens that are valid for one use
///     replay_protection: ENFORCED           # session tokens, too, are valid for one use
///     max_age: 10m
///     providers: [app_attest]
///     apps: ["1:1234567890:ios:321abc456def7890"]
///     accept_oauth_clients: false           # unless `apps` names the OAuth client
///     accept_development: false
///     enforcement: ENFORCED
public struct TokenDemand: Sendable, Hashable {
    /// Whether session tokens are refused.
    public var requiresLimitedUse: Bool
    /// Whether the second use of a session token is refused; that of a limited-use token always is.
    public var replayProtection: EnforcementMode
    /// The largest age of a token since its `iat`; nil for its whole lifetime.
    public var maximumAge: Duration?
    /// The providers whose tokens are accepted; nil for all.
    public var providers: Set<ExactText>?
    /// The app IDs and OAuth client IDs whose tokens are accepted; nil for all of the project's.
    public var apps: Set<ExactText>?
    /// Whether tokens of OAuth clients are accepted; ``apps``, if it is not nil, decides alone.
    public var acceptsOAuthClients: Bool
    /// Whether tokens of providers for development are accepted.
    public var acceptsDevelopment: Bool
    /// What happens to requests whose token does not meet the demand.
    public var enforcement: EnforcementMode

    /// Makes a demand; by default any valid production token of an app is accepted.
    public init(
        requiresLimitedUse: Bool = false, replayProtection: EnforcementMode = .off, maximumAge: Duration? = nil,
        providers: Set<ExactText>? = nil, apps: Set<ExactText>? = nil, acceptsOAuthClients: Bool = false,
        acceptsDevelopment: Bool = false, enforcement: EnforcementMode = .enforced
    ) {
        self.requiresLimitedUse = requiresLimitedUse
        self.replayProtection = replayProtection
        self.maximumAge = maximumAge
        self.providers = providers
        self.apps = apps
        self.acceptsOAuthClients = acceptsOAuthClients
        self.acceptsDevelopment = acceptsDevelopment
        self.enforcement = enforcement
    }
}

/// A ``TokenDemand`` as a policy writes it.
///
/// Absent keys have the values of the enclosing demand.
public struct TokenDemandConfiguration: Decodable, Sendable {
    /// See ``TokenDemand/enforcement``.
    public let enforcement: EnforcementMode?
    /// See ``TokenDemand/requiresLimitedUse``.
    public let limitedUse: Bool?
    /// See ``TokenDemand/replayProtection``.
    public let replayProtection: EnforcementMode?
    /// See ``TokenDemand/maximumAge``.
    public let maximumAge: Duration?
    /// See ``TokenDemand/providers``.
    public let providers: [String]?
    /// See ``TokenDemand/apps``.
    public let apps: [String]?
    /// See ``TokenDemand/acceptsOAuthClients``.
    public let acceptsOAuthClients: Bool?
    /// See ``TokenDemand/acceptsDevelopment``.
    public let acceptsDevelopment: Bool?

    enum CodingKeys: String, CodingKey, CaseIterable {
        case enforcement
        case limitedUse = "limited_use"
        case replayProtection = "replay_protection"
        case maximumAge = "max_age"
        case providers, apps
        case acceptsOAuthClients = "accept_oauth_clients"
        case acceptsDevelopment = "accept_development"
    }

    /// The levels that it does not state, and so are those of the enclosing demand.
    public var inherited: ServiceLevelSet {
        var levels: ServiceLevelSet = []
        if enforcement == nil { levels.insert(.enforcement) }
        if replayProtection == nil { levels.insert(.replayProtection) }
        return levels
    }

    /// The enclosing demand with the values of this configuration in place of its own.
    public func applied(to demand: TokenDemand) -> TokenDemand {
        TokenDemand(
            requiresLimitedUse: limitedUse ?? demand.requiresLimitedUse,
            replayProtection: replayProtection ?? demand.replayProtection,
            maximumAge: maximumAge ?? demand.maximumAge,
            providers: providers.map { Set(exactly: $0) } ?? demand.providers,
            apps: apps.map { Set(exactly: $0) } ?? demand.apps,
            acceptsOAuthClients: acceptsOAuthClients ?? demand.acceptsOAuthClients,
            acceptsDevelopment: acceptsDevelopment ?? demand.acceptsDevelopment,
            enforcement: enforcement ?? demand.enforcement)
    }

    /// Reports the errors in it.
    ///
    /// The kernel looks up the names of apps and providers.
    ///
    /// - `path`: its place in its section.
    public func report(at path: [ConfigurationError.Component], to problems: inout ConfigurationProblems) {
        if apps?.isEmpty == true {
            problems.report(at: path + ["apps"], "without an app every token is refused; leave the key out")
        }
        if providers?.isEmpty == true {
            problems.report(at: path + ["providers"], "without a provider every token is refused; leave the key out")
        }
        if let age = maximumAge, age <= .zero {
            problems.report(at: path + ["max_age"], "expected a duration above zero")
        }
    }
}

extension TokenDemandConfiguration: DescribedConfiguration {
    /// The meaning of each key, for the JSON Schema of policies.
    public static let keys: [ExactText: PolicyKey] = [
        "enforcement": PolicyKey(
            """
            What happens to requests with an invalid token: OFF checks none, UNENFORCED allows and counts them, \
            ENFORCED refuses them.
            """, standard: "ENFORCED"),
        "limited_use": PolicyKey(
            "Whether only limited-use tokens are accepted, which can be used once.", standard: false),
        "replay_protection": PolicyKey(
            "What happens to session tokens that were used before; limited-use tokens can be used only once in any case.",
            standard: "OFF"),
        "max_age": PolicyKey("The largest age of a token.", examples: ["10m"]),
        "providers": PolicyKey(
            "The providers whose tokens are accepted; all of them when absent.", .notEmpty, examples: [["app_attest"]],
            names: .providers),
        "apps": PolicyKey(
            "The app IDs and OAuth client IDs whose tokens are accepted; all of the project's apps when absent.",
            .notEmpty, names: .apps),
        "accept_oauth_clients": PolicyKey(
            """
            Whether tokens of the project's OAuth clients are accepted if `apps` is absent. They prove an app to an \
            authorization server; `oauth_client` accepts them when this is absent, other consumers do not.
            """),
        "accept_development": PolicyKey(
            """
            Whether tokens of providers for development are accepted, such as debug tokens; when absent, whether the project's \
            `stage` is `development`.
            """, development: .words(["true"])),
    ]
}
