internal import AssayCore
internal import AssayKit
package import AssayYAML

extension AppPolicy {
    /// The keys of an app that are shown, and compared, in a way of their own.
    private static let readKeys = [
        "id", "name", "app", Profiles.key, ProviderKeys.tokenTTL, "providers", RateLimitReader.key, RuleReader.key,
    ]

    /// The node that has a key: the client's own, or that of its app.
    private func inherited(_ key: String) -> YAMLNode? {
        for node in [node, linkedNode].compactMap({ $0?[key] }) where !node.isNull { return node }
        return nil
    }

    /// Whether an OAuth client has its app's providers.
    package var inheritsProviders: Bool { linkedNode != nil && node["providers"] == nil }

    /// Whether an OAuth client has its app's rate limit.
    package var inheritsRateLimit: Bool { linkedNode != nil && node[RateLimitReader.key].map(\.isNull) ?? true }

    /// The place of a key of the app, and of its value.
    package func location(of key: String) -> SourceLocation? { inherited(key)?.location }

    /// The sections of platforms, and each other key that only plugins know.
    package var effectiveSections: [EffectiveValue.Member] {
        (linkedNode ?? node).entries?.filter { !Self.readKeys.contains(exactly: $0.key) && !$0.value.isNull }
            .map { EffectiveValue.Member($0.key, EffectiveValue($0.value)) } ?? []
    }

    /// The providers with their sections and the token lifetimes that hold.
    package var effectiveProviders: EffectiveValue {
        let members = providers.map { provider in
            let lifetime = EffectiveValue.text(DurationText.text(provider.tokenLifetime), at: provider.lifetimeLocation)
            return EffectiveValue.Member(
                provider.name,
                EffectiveValue(provider.section.node).beginning(with: ProviderKeys.tokenTTL, lifetime))
        }
        return EffectiveValue(.mapping(members), at: location(of: "providers"))
    }

    /// The rate limit with its defaults; nil when calls are not limited.
    package var effectiveRateLimit: EffectiveValue? {
        guard let rateLimit else { return nil }
        let section = inherited(RateLimitReader.key)
        func place(_ key: String) -> SourceLocation? {
            section?[key].flatMap { $0.isNull ? nil : $0.location }
        }
        return EffectiveValue(
            .mapping([
                .init("requests", .text("\(rateLimit.requests)", at: place("requests"))),
                .init("interval", .text(Self.exactText(rateLimit.interval), at: place("interval"))),
                .init("burst", .text("\(rateLimit.burst)", at: place("burst"))),
            ]), at: section?.location)
    }

    /// A duration of at least a second, to the millisecond.
    private static func exactText(_ duration: Duration) -> String {
        let milliseconds = duration.components.attoseconds / 1_000_000_000_000_000
        return DurationText.text(duration) + (milliseconds > 0 ? "\(milliseconds)ms" : "")
    }

    /// The rules as the files have them; nil for none.
    package var statedRules: EffectiveValue? {
        rules.isEmpty ? nil : (linkedNode ?? node)[RuleReader.key].map { EffectiveValue($0) }
    }

    /// The rules with one way of writing for one meaning, for comparisons.
    var effectiveRules: EffectiveValue {
        EffectiveValue(.list(rules.map(\.effective)), at: location(of: RuleReader.key))
    }
}

extension RulePolicy {
    fileprivate var effective: EffectiveValue {
        let conditions = conditions.map { condition in
            EffectiveValue.Member(
                condition.fact,
                EffectiveValue(
                    .mapping(
                        condition.tests.map {
                            EffectiveValue.Member($0.comparison.rawValue, EffectiveValue($0.value))
                        }), at: condition.entry.keyLocation))
        }
        return EffectiveValue(
            .mapping([
                .init("name", .text(name, at: location)),
                .init("when", EffectiveValue(.mapping(conditions), at: location)),
                .init("then", .text(effect.rawValue, at: location)),
                .init("claim", .text("\(addsClaim)", at: location)),
                .init(
                    RuleEnforcement.key,
                    .text((isShadow ? RuleEnforcement.shadow : .enforced).rawValue, at: location)),
            ]), at: location)
    }
}
