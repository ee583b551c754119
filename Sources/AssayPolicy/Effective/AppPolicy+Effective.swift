internal import AssayCore
internal import AssayKit
package import AssayYAML

extension AppPolicy {
    /// The keys of an app that are shown, and compared, in a way of their own.
    private static let readKeys = AppSection.CodingKeys.names.filter { !$0.isExactly("capture") } + ["app"]

    /// The node that has a key: the client's own, or that of its app.
    private func inherited(_ key: String) -> YAMLNode? {
        for node in [node, linkedNode].compactMap({ $0?[key] }) where !node.isNull { return node }
        return nil
    }

    /// Whether an OAuth client has its app's providers.
    package var inheritsProviders: Bool { linkedNode != nil && node["providers"] == nil }

    /// Whether an OAuth client has its app's rate limit.
    package var inheritsRateLimit: Bool {
        linkedNode != nil && node[AppSection.CodingKeys.rateLimit.stringValue].map(\.isNull) ?? true
    }

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
                EffectiveValue(provider.section.node).beginning(
                    with: ProviderSection.CodingKeys.tokenLifetime.stringValue, lifetime))
        }
        return EffectiveValue(.mapping(members), at: location(of: "providers"))
    }

    /// The rate limit with its defaults; nil when calls are not limited.
    package var effectiveRateLimit: EffectiveValue? {
        rateLimit.map { limit in
            EffectiveValue(
                inherited(AppSection.CodingKeys.rateLimit.stringValue), of: RateLimit.self,
                defaults: [ExactText(RateLimit.CodingKeys.burst.stringValue): "\(limit.burst)"])
        }
    }

    /// The rules as the files have them; nil for none.
    package var statedRules: EffectiveValue? {
        rules.isEmpty ? nil : (linkedNode ?? node)[AppSection.CodingKeys.rules.stringValue].map { EffectiveValue($0) }
    }

    /// The rules with one way of writing for one meaning, for comparisons.
    var effectiveRules: EffectiveValue {
        EffectiveValue(.list(rules.map(\.effective)), at: location(of: AppSection.CodingKeys.rules.stringValue))
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
        let key = RuleSection.CodingKeys.when.stringValue
        let when = EffectiveValue(.mapping(conditions), at: location)
        return EffectiveValue(node, of: RuleSection.self, known: [ExactText(key): when])
    }
}
