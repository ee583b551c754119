internal import AssayCore
internal import AssayYAML

/// The keys of an app that the loader reads itself; no platform's section can have one of these names.
package enum AppKeys {
    package static let all = [
        "id", "name", Profiles.key, ProviderKeys.tokenTTL, "providers", RateLimitReader.key, RuleReader.key,
        CaptureReader.key,
    ]
}

/// The keys of the root that the loader reads itself; no platform's section for several apps can have one of these names.
package enum RootKeys {
    package static let all = [
        "version", RevisionReader.key, "tokens", "callers", "projects", Profiles.section, NamedIssuers.section,
        DenyReader.key, CaptureReader.key,
    ]
}

/// The keys that the kernel reads in every provider's section.
enum ProviderKeys {
    static let tokenTTL = "token_ttl"
    /// Settings of the provider that are only tried.
    static let shadow = "shadow"
    static let all = [tokenTTL, shadow]

    /// One hour, as in Google's service.
    static let defaultTokenLifetime = Duration.seconds(3600)

    /// The range of token lifetimes: that of Google's service.
    static let tokenLives = Duration.seconds(1800)...Duration.seconds(7 * 86_400)

    /// A token lifetime: 30 minutes to 7 days, in whole seconds.
    static func tokenLifetime(_ value: YAMLValue) -> Duration? {
        guard let lifetime = value.decode(Duration.self) else { return nil }
        guard tokenLives.contains(lifetime), lifetime == .seconds(lifetime.wholeSeconds) else {
            value.report("expected a duration from 30m to 7d, in whole seconds")
            return nil
        }
        return lifetime
    }
}

/// The keys that the kernel reads in every consumer's section.
package enum ConsumerKeys {
    /// The demand on App Check tokens.
    package static let tokens = "tokens"
    /// The issuers whose JWTs name users.
    package static let actors = "actors"
    static let all = [tokens, actors]
}
