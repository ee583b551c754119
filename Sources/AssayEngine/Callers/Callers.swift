package import AssayCore
internal import AssayCrypto
package import AssayKit
package import AssayPolicy
package import AssayVerifier
package import AssayYAML

/// The callers in the policies, which may call methods that require a permission.
package struct Callers: Sendable {
    /// The callers with a bearer token, by its SHA-256, so that the time of a lookup reveals nothing about the token.
    private var bearers: [[UInt8]: (caller: Caller, proof: BearerProof)] = [:]
    /// The callers with JWTs, by `iss`, in the order of the policy.
    ///
    /// All callers of an issuer have one set of keys, so that a token's signature is verified once.
    private var issuers: [ExactText: [(issuer: TrustedIssuer, caller: Caller)]] = [:]

    /// The claims of a JWT are judged for each caller of its issuer.
    private static let callersPerIssuer = 16

    /// - Parameters:
    ///   - permissions: the existing permissions.
    ///   - problems: collects the errors.
    package init(
        _ policies: PolicySet, permissions known: Set<Permission>, host: PluginHost, problems: DiagnosticSink
    ) {
        for policy in policies.callers {
            do throws(Diagnostics) {
                try add(
                    policy, known: known, projects: policies.knowsAllProjects ? policies.projects : nil, host: host)
            } catch {
                problems.report(error)
            }
        }
    }

    /// The caller of a bearer token or of a JWT.
    ///
    /// If a JWT meets the demands of several callers, it is the first in the order of the policy.
    ///
    /// - Throws: when the keys of a JWT's issuer are unavailable now.
    package func find(_ credentials: BearerToken, now: Instant) async throws(KeysUnavailable) -> Finding {
        // A policy has only the hash, so the length of the token is checked here.
        guard credentials.text.utf8.count >= CallerConfiguration.shortestToken,
            CallerToken.isWhole(credentials.text) != false
        else { return .unknown("the bearer token is too short, or mistyped") }
        if let (caller, proof) = bearers[SHA256.hash(Array(credentials.text.utf8))] {
            if let expires = proof.expires, expires <= now {
                let name = proof.name.map { " `\($0)`" } ?? ""
                return .unknown("the token\(name) of the caller \(caller.name) ended at \(expires)")
            }
            return .found(Found(caller: caller, token: proof.name))
        }
        // Read only where it can be of use.
        guard !issuers.isEmpty, let token = try? UnverifiedJWT(credentials.text), let name = token.claims.issuer else {
            return .unknown("the bearer token is neither that of a caller nor a JWT that names its issuer")
        }
        guard let trusted = issuers[name], let issuer = trusted.first?.issuer else {
            return .unknown("no caller uses JWTs of the issuer '\(UnverifiedJWT.shortened(name))'")
        }
        var faults = JWTRefusals()
        let verified: VerifiedJWT
        do {
            verified = try await issuer.keys.verify(token)
        } catch let error as KeysUnavailable {
            throw error
        } catch {
            let text = (error as? JWTFault).map { issuer.explanation(of: $0, in: token, now: now) } ?? "\(error)"
            for (_, caller) in trusted { faults.add(text, for: caller.name) }
            return .unknown(faults.text)
        }
        for (issuer, caller) in trusted {
            do throws(JWTFault) {
                try issuer.judge(verified, now: now)
                return .found(Found(caller: caller, subject: verified.claims.subject))
            } catch {
                faults.add(issuer.explanation(of: error, in: token, now: now), for: caller.name)
            }
        }
        return .unknown(faults.text)
    }

    /// The result of the search for a caller.
    package enum Finding: Sendable {
        case found(Found)
        /// What is wrong with the credentials, for an operator; of the credentials, only what they claim.
        case unknown(String)
    }

    /// An authenticated caller.
    package struct Found: Sendable {
        package let caller: Caller
        /// The `sub` of its JWT; nil without one.
        package var subject: String?
        /// The name of its bearer token; nil for a caller with one token only, and for a JWT.
        package var token: ExactText?
    }

    private mutating func add(
        _ policy: CallerPolicy, known: Set<Permission>, projects: [ProjectPolicy]?, host: PluginHost
    ) throws(Diagnostics) {
        let configuration = try policy.section.decode(CallerConfiguration.self)
        _ = try policy.section.making(host) { (host) throws(ConfigurationError) in
            var problems = ConfigurationProblems()
            let caller = Callers.caller(
                policy.name, configuration, known: known, projects: projects, problems: &problems)
            let found = problems.attempt { () throws(ConfigurationError) in try configuration.proof(host: host) }
            try problems.throwIfAny()
            guard let proof = found else { return }
            switch proof {
            case .tokens(let proofs):
                for proof in proofs {
                    guard bearers.updateValue((caller, proof), forKey: proof.hash) == nil else {
                        throw ConfigurationError("another caller has the same bearer token")
                    }
                }
            case .issuer(let issuer):
                if let (other, first) = issuers[issuer.name]?.first, !issuer.keys.isSame(as: other.keys) {
                    throw ConfigurationError(
                        at: ["jwt", "jwks"],
                        "the caller \(first.name) has the same issuer with other keys; an issuer has one `jwks`")
                }
                issuers[issuer.name, default: []].append((issuer, caller))
                guard issuers[issuer.name, default: []].count <= Callers.callersPerIssuer else {
                    throw ConfigurationError(
                        at: ["jwt", "issuer"], "at most \(Callers.callersPerIssuer) callers may use one issuer")
                }
            }
        }
    }

    /// What a policy lets a caller do, by which proof it is recognised does not matter.
    ///
    /// - Parameters:
    ///   - known: the existing permissions.
    ///   - projects: nil if not all are known.
    package static func caller(
        _ name: String, _ configuration: CallerConfiguration, known: Set<Permission>, projects: [ProjectPolicy]?,
        problems: inout ConfigurationProblems
    ) -> Caller {
        var permissions: Set<Permission> = []
        for (index, name) in configuration.permissions.enumerated() {
            if !known.contains(Permission(name)) {
                problems.report(
                    ConfigurationError(
                        at: ["permissions", .index(index)], "unknown permission `\(name)`", found: name,
                        known: known.map(\.name)))
            }
            permissions.insert(Permission(name))
        }
        if permissions.isEmpty {
            problems.report(at: ["permissions"], "without a permission the caller may do nothing")
        }
        // Nil if projects could not be read, because the unknown project may be one of them.
        for (index, name) in (projects == nil ? [] : configuration.projects ?? []).enumerated()
        where projects?.contains(where: { $0.identity.number.isExactly(name) || $0.identity.id.isExactly(name) })
            == false
        {
            problems.report(
                ConfigurationError(
                    at: ["projects", .index(index)], "unknown project `\(name)`", found: name,
                    known: (projects ?? []).flatMap { [$0.identity.id, $0.identity.number] }))
        }
        if configuration.projects?.isEmpty == true {
            problems.report(
                at: ["projects"], "without a project the caller may do nothing; leave the key out to allow all")
        }
        return Caller(name: name, permissions: permissions, projects: configuration.projects.map { Set(exactly: $0) })
    }
}

/// A client of the API that a policy gives permissions.
package final class Caller: Sendable {
    /// Its name in audit records.
    package let name: String
    private let permissions: Set<Permission>
    /// The names of the projects that it may act in; nil for all.
    private let projects: Set<ExactText>?

    package init(name: String, permissions: Set<Permission>, projects: Set<ExactText>?) {
        self.name = name
        self.permissions = permissions
        self.projects = projects
    }

    package func has(_ permission: Permission) -> Bool {
        permissions.contains(permission) || permissions.contains(.admin)
    }

    /// Whether it may act in a project; nil stands for an unknown project.
    package func mayAct(in project: ProjectIdentity?) -> Bool {
        guard let projects else { return true }
        guard let project else { return false }
        return projects.contains(project.number) || projects.contains(project.id)
    }
}

/// The reasons why a JWT is refused for the callers of its issuer, each explanation once.
struct JWTRefusals: Sendable {
    private var explanations: [(text: String, callers: [String])] = []

    mutating func add(_ text: String, for caller: String) {
        if let index = explanations.firstIndex(where: { $0.text.utf8.elementsEqual(text.utf8) }) {
            explanations[index].callers.append(caller)
        } else {
            explanations.append((text, [caller]))
        }
    }

    /// The text of a record: `the JWT is invalid for deployer: ...; for auditor: ...`.
    var text: String {
        "the JWT is invalid "
            + explanations.map { "for \($0.callers.joined(separator: ", ")): \($0.text)" }.joined(separator: "; ")
    }
}
