internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// Whether what evidence or tokens are judged by is the same in two sets.
package enum SettingsComparison {
    /// Whether a provider judges evidence of an app differently: the app's platform sections, the stage of its project, and the provider's section;
    /// token lifetimes and settings that are only tried do not matter.
    package static func differ(_ old: AppPolicy, _ new: AppPolicy, provider: String) -> Bool {
        func settings(_ app: AppPolicy) -> EffectiveValue {
            let section = app.effectiveProviders[provider]?.without(ProviderKeys.all)
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

    /// Whether the callers differ in anything.
    package static func callersDiffer(_ old: PolicySet, _ new: PolicySet) -> Bool {
        func settings(_ policies: PolicySet) -> EffectiveValue {
            EffectiveValue(.mapping(policies.callers.map { .init($0.name, EffectiveValue($0.section.node)) }), at: nil)
        }
        return differ(settings(old), settings(new))
    }

    /// Whether the consumers of any project differ in anything.
    package static func consumersDiffer(_ old: PolicySet, _ new: PolicySet) -> Bool {
        func settings(_ policies: PolicySet) -> EffectiveValue {
            EffectiveValue(
                .mapping(
                    policies.projects.map {
                        .init($0.identity.number, EffectiveValue(.mapping($0.effectiveConsumers), at: nil))
                    }), at: nil)
        }
        return differ(settings(old), settings(new))
    }

    private static func differ(_ old: EffectiveValue, _ new: EffectiveValue) -> Bool {
        var comparison = TreeComparison(subject: .section, name: "")
        comparison.compare(old, new, at: .root)
        return !comparison.changes.isEmpty
    }
}
