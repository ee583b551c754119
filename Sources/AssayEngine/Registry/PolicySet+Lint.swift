internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import AssayVerifier
package import AssayYAML

extension PolicySet {
    /// Checks all sections of plugins and of callers against what their types declare.
    ///
    /// - Parameters:
    ///   - refusesDevelopment: as with ``Engine/Options/refusesDevelopment``.
    ///   - problems: collects the errors.
    ///   - warnings: collects the warnings.
    package func lint(
        _ registry: Registry, refusesDevelopment: Bool, problems: DiagnosticSink, warnings: DiagnosticSink
    ) {
        var lint = SectionLint(refusesDevelopment: refusesDevelopment, problems: problems, warnings: warnings)
        if refusesDevelopment {
            if let development { problems.report(development) }
            for caller in callers { lint.check(caller.section, of: CallerConfiguration.self) }
        }
        let names = names(registry)
        for app in apps {
            for section in app.sections {
                guard let platform = registry.platforms.first(where: { $0.name.isExactly(section.name) }) else {
                    continue
                }
                lint.check(section, of: platform)
            }
            for policy in app.providers where !problems.isOverfull {
                guard let provider = registry.providers[policy.name] else { continue }
                if refusesDevelopment, provider.descriptor.isForDevelopment {
                    problems.report(
                        policy.section.diagnostics(
                            "the provider `\(policy.name)` is for development, and this server is for production",
                            hint: "remove the section"))
                } else if let configuration = provider.configuration {
                    lint.check(
                        policy.section, of: configuration,
                        names: names[ExactText(app.identity.project.number)])
                }
            }
        }
        for project in projects {
            for policy in project.consumers where !problems.isOverfull {
                guard let configuration = registry.consumers[policy.name]?.configuration else { continue }
                lint.check(
                    policy.section, of: configuration, kernelKeys: ConsumerBindings.kernelKeys,
                    names: names[ExactText(project.identity.number)])
            }
        }
    }

    /// The names that the sections of each project may use, by the projects' numbers.
    private func names(_ registry: Registry) -> [ExactText: SectionLint.Names] {
        let minted = ExactText(MintedTokens.provider)
        let missing = registry.unavailable.filter { $0.kind == .provider }.map { ExactText($0.name) }
        let known = Set(registry.providers.keys).union(missing).union([minted])
        var used: [ExactText: Set<ExactText>] = [:]
        var subjects: [ExactText: Set<ExactText>] = [:]
        for app in apps {
            let number = ExactText(app.identity.project.number)
            used[number, default: [minted]].formUnion(app.providers.map { ExactText($0.name) })
            subjects[number, default: []].insert(ExactText(app.identity.subject))
        }
        return projects.reduce(into: [:]) { names, project in
            let number = ExactText(project.identity.number)
            names[number] = SectionLint.Names(
                providers: known, usedProviders: knowsAllProjects ? used[number] : nil,
                apps: knowsAllProjects ? subjects[number] ?? [] : nil)
        }
    }
}
