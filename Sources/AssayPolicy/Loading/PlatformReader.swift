internal import AssayCore
package import AssayKit
internal import AssayYAML

extension PolicySet {
    /// The same policies with the sections of platforms decoded into the identities of apps, and what apps of a platform share
    /// merged into the sections of their providers.
    ///
    /// Errors in them, and each key of an app or of a file that is neither the loader's nor a platform's, are added to ``problems``.
    ///
    /// - Parameter providers: the names of the program's providers; nil if some could not be made.
    package func reading(_ platforms: [any PlatformSection.Type], providers: [String]? = nil) -> PolicySet {
        let sink = DiagnosticSink()
        if let problems { sink.report(problems) }
        var byName: [ExactText: any PlatformSection.Type] = [:]
        for platform in platforms { byName[ExactText(platform.name)] = platform }
        let shared = SharedSettings(sections, platforms, providers: providers, problems: sink)
        let known = AppKeys.all + byName.keys.sorted().map(\.string)
        var result = self
        var read: [ExactText: Reading] = [:]
        // A client comes after the app that it is linked to.
        for (index, app) in apps.enumerated() {
            let linked = app.identity.linkedApp.flatMap { read[ExactText($0)] }
            let reading = linked ?? Self.read(app.sections, byName, known, sink)
            if app.identity.kind == .app { read[ExactText(app.identity.resource)] = reading }
            if !reading.platforms.isEmpty { result.apps[index].identity = app.identity.with(reading.platforms) }
            if !reading.isSound { result.apps[index].isSound = false }
            shared.merge(into: &result.apps[index].providers, of: linked == nil ? app.sections : reading.sections)
        }
        result.problems = sink.diagnostics
        if knowsAllProjects, result.problems == nil {
            let all = DiagnosticSink()
            if let warnings { all.report(warnings) }
            shared.reportUnused(to: all)
            Self.warn(of: apps.filter { $0.identity.kind == .app }, read, into: all)
            result.warnings = all.diagnostics
        }
        return result
    }

    /// Warns of apps that evidence does not tell from another one of their project, and of sections on apps of another platform.
    private static func warn(of apps: [AppPolicy], _ read: [ExactText: Reading], into warnings: DiagnosticSink) {
        struct Named: Hashable {
            let project: ExactText
            let section: AnyHashable
        }
        var first: [Named: AppPolicy] = [:]
        for app in apps {
            let platform = app.identity.subject.split(onASCII: ":").dropFirst(2).first.map { String($0) } ?? ""
            for section in read[ExactText(app.identity.resource)]?.platforms ?? [] {
                let kind = type(of: section)
                guard let stated = app.sections.first(where: { $0.name.isExactly(kind.name) }) else { continue }
                if firebasePlatforms.contains(exactly: platform), !kind.appPlatforms.isEmpty,
                    !kind.appPlatforms.contains(exactly: platform)
                {
                    let meant = kind.appPlatforms.map { "`\($0)`" }.joined(separator: ", ")
                    warnings.report(
                        stated.warning("is for apps of the platform \(meant), and the app ID is one of `\(platform)`"))
                }
                let name = Named(project: ExactText(app.identity.project.number), section: AnyHashable(section))
                if let other = first[name] {
                    warnings.report(
                        stated.warning(
                            "has the same values as in the app `\(other.identity.subject)`: evidence of one is accepted for the other"
                        ))
                } else {
                    first[name] = app
                }
            }
        }
    }

    /// The platforms that Firebase writes into app IDs.
    private static let firebasePlatforms = ["android", "ios", "web"]

    private struct Reading {
        var platforms: [any PlatformSection] = []
        let sections: [PolicySection]
        var isSound = true
    }

    private static func read(
        _ sections: [PolicySection], _ platforms: [ExactText: any PlatformSection.Type], _ known: [String],
        _ sink: DiagnosticSink
    ) -> Reading {
        var reading = Reading(sections: sections)
        for section in sections {
            guard let platform = platforms[ExactText(section.name)] else {
                sink.report(section.unknownKey(known: known))
                continue
            }
            if section.isNull(sink) { continue }
            do throws(Diagnostics) {
                reading.platforms.append(try section.decode(any: platform))
            } catch {
                sink.report(error)
                reading.isSound = false
            }
        }
        return reading
    }
}

/// The sections at the root of policies with what apps of a platform share.
private final class SharedSettings {
    /// One part, such as a team, by the provider's name.
    private final class Part {
        let section: PolicySection
        let providers: [ExactText: PolicySection]
        var used: Set<ExactText> = []
        var isUsed = false

        init(_ section: PolicySection, providers: [ExactText: PolicySection]) {
            self.section = section
            self.providers = providers
        }
    }

    /// For each platform's name: the key that names a part, and the parts.
    private var parts: [ExactText: (key: String, parts: [ExactText: Part])] = [:]
    private let known: [String]?
    private let problems: DiagnosticSink
    private let warnings = DiagnosticSink()

    init(
        _ sections: [PolicySection], _ platforms: [any PlatformSection.Type], providers: [String]?,
        problems sink: DiagnosticSink
    ) {
        known = providers
        problems = sink
        let shared = platforms.compactMap { platform in platform.shared.map { (platform.name, $0) } }
        for section in sections {
            guard let (platform, definition) = shared.first(where: { $0.1.name.isExactly(section.name) }) else {
                sink.report(section.unknownKey(known: RootSection.CodingKeys.names + shared.map(\.1.name)))
                continue
            }
            if section.isNull(sink) { continue }
            for part in section.parts(sink) ?? [] { add(part, platform, definition, sink) }
        }
    }

    private func add(_ part: PolicySection, _ platform: String, _ shared: SharedSection, _ sink: DiagnosticSink) {
        var all = parts[ExactText(platform)] ?? (shared.key, [:])
        let name = ExactText(part.name)
        if let first = all.parts[name] {
            sink.report(part.definedTwice(first.section))
            return
        }
        var providers: [ExactText: PolicySection] = [:]
        for provider in part.parts(sink) ?? [] {
            if let known, !known.contains(exactly: provider.name) {
                sink.report(provider.unknownProvider(known: known))
                continue
            }
            guard provider.node.entries != nil else {
                _ = provider.parts(sink)
                continue
            }
            let lifetime = ProviderSection.CodingKeys.tokenLifetime.stringValue
            if provider.node(of: lifetime) != nil {
                sink.report(
                    provider.diagnostics(
                        "`\(lifetime)` has no effect here; an app or a profile can say it"
                    ))
            }
            providers[ExactText(provider.name)] = provider
        }
        all.parts[name] = Part(part, providers: providers)
        parts[ExactText(platform)] = all
    }

    /// Merges what an app's sections of platforms name into its providers' sections.
    func merge(into providers: inout [ProviderPolicy], of sections: [PolicySection]) {
        for section in sections {
            guard let (key, all) = parts[ExactText(section.name)], let name = section.text(of: key),
                let part = all[ExactText(name)]
            else { continue }
            part.isUsed = true
            for index in providers.indices {
                let name = ExactText(providers[index].name)
                guard let shared = part.providers[name] else { continue }
                part.used.insert(name)
                let own = providers[index].section.value(problems)
                MergeCheck(base: "the section `\(part.section.pathText)`", warnings: warnings)
                    .report(own.node, over: shared.node, at: own.path, to: problems)
                providers[index].section = providers[index].section.merged(over: shared.node)
            }
        }
    }

    /// Warns of what no app uses, and of what its use does not do.
    func reportUnused(to warnings: DiagnosticSink) {
        if let found = self.warnings.diagnostics { warnings.report(found) }
        for part in parts.values.flatMap(\.parts.values) {
            if !part.isUsed {
                warnings.report(part.section.warning("no app names it, so it is not checked"))
                continue
            }
            for (name, section) in part.providers where !part.used.contains(name) {
                warnings.report(section.warning("no app that names `\(part.section.name)` has this provider"))
            }
        }
    }
}

extension PolicySection {
    fileprivate func decode<Section: PlatformSection>(
        any platform: Section.Type
    ) throws(Diagnostics) -> any PlatformSection {
        try decode(platform)
    }
}
