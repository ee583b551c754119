internal import AssayCore
internal import AssayKit

/// The rules of a section, read from its configuration.
struct FleetEngineRules: Sendable {
    private let rules: [FleetEngineRole: FleetEngineRule]

    subscript(role: FleetEngineRole) -> FleetEngineRule? { rules[role] }

    /// - Parameter knowsActors: whether requests can have an actor.
    /// - Throws: all that is wrong in the section's `account`, `callback` and `roles`.
    init(_ configuration: FleetEngineConfiguration, knowsActors: Bool, host: PluginHost) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        var accounts = FleetEngineAccounts(host.secrets)
        var callback: FleetEngineCallback?
        if let section = configuration.callback {
            callback = problems.attempt { () throws(ConfigurationError) in
                try FleetEngineCallback(section, at: ["callback"], host: host)
            }
            if !configuration.roles.rules.values.contains(where: { $0.callback == true }) {
                problems.report(at: ["callback"], "no role has `callback: true`, so that it is never asked")
            }
        }
        if configuration.roles.rules.isEmpty {
            problems.report(at: ["roles"], "expected a role: otherwise no token is issued")
        }
        let standard = configuration.account.flatMap { accounts.account($0, at: ["account"], &problems) }
        var rules: [FleetEngineRole: FleetEngineRule] = [:]
        for role in FleetEngineRole.allCases {
            guard let section = configuration.roles.rules[role] else { continue }
            let path: [ConfigurationError.Component] = ["roles", .key(role.rawValue)]
            Self.check(section, role, hasCallback: configuration.callback != nil, at: path, &problems)
            if !knowsActors { Self.checkClaims(section, at: path, &problems) }
            let own = section.account.flatMap { accounts.account($0, at: path + ["account"], &problems) }
            if section.account == nil, configuration.account == nil {
                problems.report(at: path, "expected `account` here, or in the section for all roles")
            }
            guard let account = section.account == nil ? standard : own else { continue }
            rules[role] = FleetEngineRule(
                account: account, ids: section.ids.mapValues { $0.claim.map { .claim($0) } ?? .any },
                actor: section.actor.map { ($0.claim, Set(exactly: $0.values)) },
                callback: section.callback == true ? callback : nil, allowsAll: section.wildcard == true)
        }
        try problems.throwIfAny()
        self.rules = rules
    }

    // MARK: - What a rule must say

    private static func check(
        _ section: FleetEngineRoleConfiguration, _ role: FleetEngineRole, hasCallback: Bool,
        at path: [ConfigurationError.Component], _ problems: inout ConfigurationProblems
    ) {
        let isGuarded = section.actor != nil || section.callback == true
        if section.callback == true, !hasCallback {
            problems.report(at: path + ["callback"], "expected `callback` in the section, which defines the question")
        }
        if let actor = section.actor {
            check(claim: actor.claim, at: path + ["actor", "claim"], &problems)
            if actor.values.isEmpty { problems.report(at: path + ["actor", "values"], "expected a value") }
        }
        for entity in FleetEngineEntity.allCases {
            guard let ids = section.ids[entity] else { continue }
            let path = path + [.key(entity.rawValue)]
            switch (ids.claim, ids.any) {
            case (let claim?, nil): check(claim: claim, at: path + ["claim"], &problems)
            case (nil, true?):
                if !isGuarded {
                    problems.report(
                        at: path,
                        "expected `actor` or `callback: true` as well: otherwise every caller may request any of them"
                    )
                }
            default: problems.report(at: path, "expected one of `claim` and `any: true`")
            }
        }
        if !role.fleet.isEmpty {
            if !isGuarded {
                problems.report(
                    at: path,
                    "expected `actor` or `callback: true`: otherwise every caller gets a token for the whole fleet")
            }
        } else if section.ids.isEmpty, section.callback != true {
            let names = role.entities.map { "`\($0.rawValue)`" }.joined(separator: ", ")
            problems.report(at: path, "expected \(names) or `callback: true`: otherwise no ID is allowed")
        }
    }

    /// Says which rules cannot be met, because no user is known.
    private static func checkClaims(
        _ section: FleetEngineRoleConfiguration, at path: [ConfigurationError.Component],
        _ problems: inout ConfigurationProblems
    ) {
        func report(_ place: [ConfigurationError.Component], _ result: String) {
            problems.report(
                at: place, "expected `actors` in the section, whose JWTs have the claim: otherwise \(result)")
        }
        for entity in FleetEngineEntity.allCases where !(section.ids[entity]?.claim).isNil {
            report(path + [.key(entity.rawValue), "claim"], "no ID of this kind is given")
        }
        if section.actor != nil { report(path + ["actor"], "no token is issued") }
    }

    private static func check(
        claim: String, at path: [ConfigurationError.Component], _ problems: inout ConfigurationProblems
    ) {
        if !(1...256).contains(claim.utf8.count) { problems.report(at: path, "expected the path of a claim") }
    }
}
