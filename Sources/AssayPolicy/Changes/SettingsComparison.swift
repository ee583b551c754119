package import AssayCore
internal import AssayKit
internal import AssayYAML

/// Whether what evidence or tokens are judged by is the same in two sets.
package enum SettingsComparison {
    /// Whether a provider judges evidence of an app differently: the app's platform sections, the stage of its project, and the provider's section;
    /// token lifetimes and shadow settings do not matter.
    package static func differ(_ old: AppPolicy, _ new: AppPolicy, provider: String) -> Bool {
        func settings(_ app: AppPolicy) -> EffectiveValue {
            let section = app.effectiveProviders[provider]?.without(ProviderSection.undeciding)
            var members = app.effectiveSections
            members.append(.init("", .text(app.identity.project.stage.rawValue, at: nil)))
            if let section { members.append(.init("provider", section)) }
            return EffectiveValue(.mapping(members), at: nil)
        }
        return differ(settings(old), settings(new))
    }

    /// A consumer's section in a project, without what is compared otherwise.
    package struct ConsumerSettings {
        private let value: EffectiveValue

        /// - Parameter compared: the places in the section that are compared otherwise.
        package init(
            of consumer: String, in project: ProjectPolicy, without compared: Set<[ConfigurationError.Component]>
        ) {
            let members = project.effectiveConsumers.filter { $0.key.isExactly(consumer) }
            value = EffectiveValue(
                .mapping(members.map { .init($0.key, $0.value.without(compared, at: []) ?? .empty) }), at: nil)
        }

        /// Whether a consumer decides differently.
        package func differ(from other: ConsumerSettings) -> Bool { SettingsComparison.differ(value, other.value) }
    }

    /// The callers of both sets that prove who they are in another way: by other tokens, or by another issuer.
    package static func differentCredentials(_ old: PolicySet, _ new: PolicySet) -> Set<ExactText> {
        func proofs(_ policies: PolicySet) -> [ExactText: EffectiveValue] {
            Dictionary(
                policies.callers.map {
                    (ExactText($0.name), EffectiveValue($0.section.node).without(["permissions", "projects"]))
                }, uniquingKeysWith: { first, _ in first })
        }
        let (before, after) = (proofs(old), proofs(new))
        return Set(
            before.keys.filter { name in
                guard let left = before[name], let right = after[name] else { return false }
                return differ(left, right)
            })
    }

    private static func differ(_ old: EffectiveValue, _ new: EffectiveValue) -> Bool {
        var comparison = TreeComparison(subject: .section, name: "")
        comparison.compare(old, new, at: .root)
        return !comparison.changes.isEmpty
    }
}

extension EffectiveValue {
    fileprivate static let empty = EffectiveValue(.mapping([]), at: nil)

    /// The value without what is at some places; nil where nothing is left of it.
    fileprivate func without(
        _ places: Set<[ConfigurationError.Component]>, at path: [ConfigurationError.Component]
    ) -> EffectiveValue? {
        guard !places.contains(path) else { return nil }
        switch content {
        case .scalar, .concealed: return self
        case .list(let elements):
            let kept = elements.enumerated().compactMap { $1.without(places, at: path + [.index($0)]) }
            return kept.isEmpty && !elements.isEmpty ? nil : EffectiveValue(.list(kept), at: location)
        case .mapping(let members):
            let kept = members.compactMap { member in
                member.value.without(places, at: path + [.key(member.key)]).map { Member(member.key, $0) }
            }
            return kept.isEmpty && !members.isEmpty ? nil : EffectiveValue(.mapping(kept), at: location)
        }
    }
}
