package import AssayCore
internal import AssayKit
internal import AssayYAML

/// Whether what evidence or tokens are judged by is the same in two sets.
package enum SettingsComparison {
    /// Whether a provider judges evidence of an app differently: the app's platform sections, the stage of its project, and the provider's section;
    /// token lifetimes and shadow settings do not matter.
    package static func differ(_ old: AppPolicy, _ new: AppPolicy, provider: String) -> Bool {
        func settings(_ app: AppPolicy) -> EffectiveValue {
            let section = app.effectiveProviders[provider]?.without(ProviderSection.CodingKeys.names)
            var members = app.effectiveSections
            members.append(.init("", .text(app.identity.project.stage.rawValue, at: nil)))
            if let section { members.append(.init("provider", section)) }
            return EffectiveValue(.mapping(members), at: nil)
        }
        return differ(settings(old), settings(new))
    }

    /// Whether a consumer of a project decides differently.
    package static func differ(_ old: ProjectPolicy, _ new: ProjectPolicy, consumer: String) -> Bool {
        func settings(_ project: ProjectPolicy) -> EffectiveValue {
            EffectiveValue(.mapping(project.effectiveConsumers.filter { $0.key.isExactly(consumer) }), at: nil)
        }
        return differ(settings(old), settings(new))
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
