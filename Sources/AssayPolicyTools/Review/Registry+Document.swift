internal import AssayCore
internal import AssayEngine
internal import AssayKit
package import AssayPolicy

extension Registry {
    /// What holds for an app, with the defaults that plugins declare.
    ///
    /// - Parameters:
    ///   - policies: as ``effective(_:)`` makes them.
    ///   - showsProject: whether the settings of its project are part of it.
    /// - Returns: nil for an app that is not in the policies.
    package func document(
        of app: AppPolicy, in policies: PolicySet, showsProject: Bool
    ) -> EffectiveDocument? {
        let number = app.identity.project.number
        guard let project = policies.projects.first(where: { $0.identity.number.isExactly(number) }) else { return nil }
        let isDevelopment = app.identity.project.stage == .development
        let denials = policies.denials.filter { entry in
            entry.concerns(app.identity)
                && (entry.isOfToken
                    || app.providers.contains { provider in
                        let facts = providers[provider.name]?.descriptor.facts ?? []
                        return entry.concernsEvidence(of: provider.name, facts: facts)
                    })
        }
        return EffectiveDocument(
            app, of: project, in: policies, denials: denials, showsProject: showsProject
        ) { owner, name, value in
            switch owner {
            case .platform:
                guard let type = platforms.first(where: { $0.name.isExactly(name) }) else { return value }
                return value.adding(defaultsOf: type, isDevelopment: isDevelopment)
            case .provider:
                guard let type = providers[name]?.configuration else { return value }
                return value.adding(defaultsOf: type, isDevelopment: isDevelopment)
            case .consumer:
                guard let plugin = consumers[name] else { return value }
                return withDefaults(value, of: plugin, isDevelopment: isDevelopment)
            }
        }
    }

    private func withDefaults(
        _ value: EffectiveValue, of plugin: ConsumerPlugin, isDevelopment: Bool
    ) -> EffectiveValue {
        let tokens = ConsumerKeys.tokens
        let own =
            plugin.configuration.map { type in
                // An inner demand on tokens has the values of the outer one.
                value.adding(defaultsOf: type, isDevelopment: isDevelopment) { $0 == TokenDemandConfiguration.self }
            } ?? value
        guard case .mapping(let members) = own.content else { return own }
        let whole = members.map { member in
            guard member.key.isExactly(tokens) else { return member }
            var demand = member.value.adding(defaultsOf: TokenDemandConfiguration.self, isDevelopment: isDevelopment)
            if !plugin.allowsUnenforced, case .mapping(let keys) = demand.content {
                // Such a consumer cannot state it.
                demand.content = .mapping(keys.filter { !$0.key.isExactly("enforcement") || $0.value.location != nil })
            }
            return EffectiveValue.Member(tokens, demand)
        }
        return EffectiveValue(.mapping(whole), at: own.location)
    }
}
