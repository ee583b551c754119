public import AssayCore
public import AssayKit
public import AssayPolicy
public import AssayYAML

/// A plugin in a policy: who uses it, and whether an instance of it can be made.
public struct PluginUse: Sendable {
    /// What the plugin is for: a provider or a consumer.
    public let kind: PluginKind
    /// The name of the plugin, as the policy has it.
    @Exact public private(set) var plugin: String
    /// The app, the OAuth client or the project that uses it.
    @Exact public private(set) var resource: String
    /// The place of the plugin's section.
    public let location: SourceLocation
    /// The first error that prevents the instance; nil when it can be made.
    public let problem: Diagnostic?
}

extension PolicySet {
    /// Who uses which plugin, in the order of the files.
    ///
    /// - Parameter problems: what ``check(_:host:refusesDevelopment:)`` found wrong; nil when nothing was.
    public func uses(problems: Diagnostics?) -> [PluginUse] {
        let errors = problems?.all.filter { $0.severity == .error } ?? []
        let places = Set(errors.compactMap(\.location))
        let providers = apps.flatMap { app in
            app.providers.map { provider in
                // An error in the app's own names prevents the instances of all its providers.
                let ofApp =
                    app.isSound
                    ? nil
                    : errors.first(in: provider.section.ownerPathText, of: provider.section)
                        ?? app.sections.lazy.compactMap { errors.first(within: $0, places) }.first
                return PluginUse(
                    kind: .provider, plugin: provider.name, resource: app.identity.resource,
                    location: provider.section.location,
                    problem: errors.first(in: provider.section.pathText, of: provider.section)
                        // What several apps share is reported once, for the first of them.
                        ?? errors.first(within: provider.section, places) ?? ofApp)
            }
        }
        let consumers = projects.flatMap { project in
            project.consumers.map { consumer in
                PluginUse(
                    kind: .consumer, plugin: consumer.name, resource: "projects/\(project.identity.number)",
                    location: consumer.section.location,
                    problem: errors.first(in: consumer.section.pathText, of: consumer.section))
            }
        }
        return providers + consumers
    }
}

extension [Diagnostic] {
    /// The first problem with a key or a value of a section.
    fileprivate func first(within section: PolicySection, _ places: Set<SourceLocation>) -> Diagnostic? {
        guard section.touches(places) else { return nil }
        return first { problem in problem.location.map { section.touches([$0]) } ?? false }
    }

    /// The first problem at a path or below it, in the file of a section.
    fileprivate func first(in path: String, of section: PolicySection) -> Diagnostic? {
        first { problem in
            guard problem.file.isExactly(section.location.file), problem.path.starts(withExactly: path) else {
                return false
            }
            let next = problem.path.utf8.dropFirst(path.utf8.count).first
            return next == nil || next == UInt8(ascii: ".") || next == UInt8(ascii: "[")
        }
    }
}
