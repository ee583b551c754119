internal import AssayCrypto
internal import AssayKit
internal import AssayPolicy
internal import AssayYAML

/// Everybody whom the policies let call methods that demand a permission.
struct Callers: Sendable {
    /// Those that show a bearer token, by its SHA-256: looking one up tells nothing about it by the time it takes.
    private var bearers: [[UInt8]: Caller] = [:]

    /// - Parameters:
    ///   - permissions: those that there are.
    ///   - problems: takes what is wrong.
    init(
        _ policies: PolicySet, permissions known: Set<Permission>, secrets: SecretSource, problems: DiagnosticSink
    ) {
        for policy in policies.callers {
            do throws(Diagnostics) {
                try add(
                    policy, known: known, projects: policies.knowsAllProjects ? policies.projects : nil,
                    secrets: secrets)
            } catch {
                problems.report(error)
            }
        }
    }

    /// Who shows a bearer token; nil when nobody is known by it.
    func find(_ credentials: BearerToken) -> Caller? {
        bearers[SHA256.hash(Array(credentials.text.utf8))]
    }

    private mutating func add(
        _ policy: CallerPolicy, known: Set<Permission>, projects: [ProjectPolicy]?, secrets: SecretSource
    ) throws(Diagnostics) {
        let configuration = try policy.section.decode(CallerConfiguration.self)
        do throws(ConfigurationError) {
            var problems = ConfigurationProblems()
            var permissions: Set<Permission> = []
            for (index, name) in configuration.permissions.enumerated() {
                if !known.contains(Permission(name)) {
                    let names = known.map(\.name).sorted().joined(separator: ", ")
                    problems.report(
                        at: ["permissions", .index(index)], "there is no permission `\(name)`; known are \(names)")
                }
                permissions.insert(Permission(name))
            }
            if permissions.isEmpty {
                problems.report(at: ["permissions"], "without a permission the caller may do nothing")
            }
            // Nil where projects could not be read: one that is not known may be one of them.
            for (index, name) in (projects == nil ? [] : configuration.projects ?? []).enumerated()
            where projects?.contains(where: { $0.identity.number == name || $0.identity.id == name }) == false {
                problems.report(at: ["projects", .index(index)], "there is no project `\(name)`")
            }
            let found = problems.attempt { () throws(ConfigurationError) in try configuration.hash(secrets: secrets) }
            try problems.throwIfAny()
            guard case let hash?? = found else { return }
            let caller = Caller(
                name: policy.name, permissions: permissions, projects: configuration.projects.map { Set($0) })
            guard bearers.updateValue(caller, forKey: hash) == nil else {
                throw ConfigurationError("another caller has the same bearer token")
            }
        } catch {
            throw policy.section.diagnostics(for: error)
        }
    }
}
