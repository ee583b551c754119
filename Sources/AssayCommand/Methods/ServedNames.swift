internal import AssayCore
internal import AssayKit
internal import AssayPolicy

/// What policies have of the names that paths are made of.
struct ServedNames {
    private let names: [String: [String]]
    private let plugins: Set<String>
    private let kinds: Set<ResourceKind>

    init(_ policies: PolicySet) {
        let apps = policies.apps.filter { $0.identity.kind == .app }
        let clients = policies.apps.filter { $0.identity.kind == .oauthClient }
        names = [
            "project": policies.projects.flatMap { [$0.identity.number, $0.identity.id] },
            "app": apps.map(\.identity.subject).sorted(),
            "oauthClient": clients.map(\.identity.subject).sorted(),
            "serviceId": Set(policies.projects.flatMap { $0.services.map(\.id) }).sorted(),
        ]
        plugins = Set(policies.apps.flatMap { $0.providers.map(\.name) })
            .union(policies.projects.flatMap { $0.consumers.map(\.name) })
        kinds = Set(policies.apps.map(\.identity.kind)).union(policies.projects.isEmpty ? [] : [.project])
    }

    /// The values of a variable of a path; nil where any will do.
    func values(of variable: String) -> [String]? {
        names[variable].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Whether calls of a method can come to anything.
    ///
    /// - Parameter owner: the plugin that the method belongs to; nil for the kernel's own.
    func serves(_ method: MethodDescriptor, of owner: String?) -> Bool {
        owner.map(plugins.contains) ?? true
    }

    /// Whether there is a resource of a rule's kind.
    func serves(_ rule: HTTPRule) -> Bool {
        ResourceKind.allCases.first { rule.template.contains("{resource=\($0.pattern)}") }.map(kinds.contains) ?? true
    }
}
