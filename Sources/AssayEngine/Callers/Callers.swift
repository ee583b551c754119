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
                try add(policy, known: known, projects: policies.projects, secrets: secrets)
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
        _ policy: CallerPolicy, known: Set<Permission>, projects: [ProjectPolicy], secrets: SecretSource
    ) throws(Diagnostics) {
        let configuration = try policy.section.decode(CallerConfiguration.self)
        do throws(ConfigurationError) {
            var permissions: Set<Permission> = []
            for (index, name) in configuration.permissions.enumerated() {
                guard known.contains(Permission(name)) else {
                    let names = known.map(\.name).sorted().joined(separator: ", ")
                    throw ConfigurationError(
                        at: ["permissions", .index(index)], "there is no permission `\(name)`; known are \(names)")
                }
                permissions.insert(Permission(name))
            }
            guard !permissions.isEmpty else {
                throw ConfigurationError(at: ["permissions"], "without a permission the caller may do nothing")
            }
            for (index, name) in (configuration.projects ?? []).enumerated()
            where !projects.contains(where: { $0.identity.number == name || $0.identity.id == name }) {
                throw ConfigurationError(at: ["projects", .index(index)], "there is no project `\(name)`")
            }
            guard let hash = try configuration.hash(secrets: secrets) else { return }
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
