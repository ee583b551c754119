import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTestSupport

/// What the schema of policies does not tell: names, values that belong together, and how often a key is written.
extension RandomValues {
    static let callers = ["alice", "bob", "carol"]
    /// The caller that may do everything, in every set.
    static let administrator = "root"
    static let paths = ["/payments/1", "/payments/*", "/payments/**", "/open", "/**"]
    static let verbs = ["GET", "POST", "HEAD"]
    /// A method that is not registered with IANA.
    static let otherVerb = "PURGE"
    static let services = ["orders.example.com", "firestore.googleapis.com", "oauth2.googleapis.com"]
    static let oauth2 = "oauth2.googleapis.com"

    static func backends(of project: Int) -> [String] {
        // A name is that of one backend of the whole server.
        ["orders-\(project)", "stock-\(project)"] + (project == 1 ? [oauth2] : [])
    }

    /// What requests choose a project's section `oauth_client` by.
    static func authorizationServer(of project: Int) -> String { "https://login-\(project).example.com" }

    static func token(of caller: String, _ version: Int) -> String { "\(caller)-token-0123456789-\(version)" }

    /// The hash of a caller's token, as policies have it.
    static func hash(of caller: String, _ version: Int) -> String {
        Hex.encode(SHA256.hash(Array(token(of: caller, version).utf8)))
    }

    static let captureKey: String = {
        do {
            return String(decoding: try PrivateKey.generate(.ec(.p256)).publicKey.pem(), as: UTF8.self)
        } catch {
            fatalError("\(error)")
        }
    }()

    /// Keys that are not written, each with the reason; the end of a path stands for all paths that end so.
    static let leftOut: [String: String] = [
        "revision": "a label for records, which decides nothing",
        "tokens.rsa_bits": "all sets sign by ES256, because RSA keys are slow to make",
        "issuers": "JWTs of other issuers need a server with their keys",
        "caller.jwt": "JWTs of other issuers need a server with their keys",
        "consumer_custom_backend.actors": "JWTs of other issuers need a server with their keys",
        "consumer_oauth_client.clients": "names in replies, which decide about nothing here",
        "consumer_oauth_client.actors": "JWTs of other issuers need a server with their keys",
        "consumer_oauth_client.tokens": "demands on the tokens of client attestations, for which no request here is",
        "consumer_oauth_client.attester": "no request here is for a client attestation",
        "consumer_oauth_client.verifier": "no request here has a client attestation",
        "consumer_oauth_client.client_assertion": "no request here has a client assertion",
        "consumer_oauth_client.ear": "no request here is for an attestation result",
        "project_addition.oauth_clients": "read as those of the project itself, which are written",
        "rate_limit": "a limit counts the calls to one server, and no tool judges it",
        "tokens[].token": "the one token of a caller is written so, which is read in the same way",
        "refusal_status": "the status of an answer, which decides nothing, and of which no statement here is",
        "unknown_fields": "no request here has a field that its method does not have",
        "deny_entry.jti": "no token is known when a set is made: denials by `jti` are added to it later",
    ]

    /// How often a key is written, of twelve times; three for all others.
    static let chances: [String: Int] = [
        "tokens.algorithm": 12, "tokens": 12, "version": 2, "callers": 12, "projects": 12, "capture": 12, "deny": 6,
        "caller.tokens": 12, "consumer_custom_backend.tokens": 5, "backends.*.tokens": 6, "app.capture": 4,
        "profile.capture": 2, "capture.decisions": 10, "profiles": 12, "project.consumers": 10, "project.services": 6,
        "project.apps": 12,
        "project.oauth_clients": 12, "project.verification": 5, "project.stage": 3, "app.providers": 12,
        "app.rules": 6, "app.name": 1, "consumers.custom_backend": 12, "routes": 6, "original_request": 12,
        "service.enforcement": 10, "backends.*.request_proof": 1, "routes[].request_proof": 1, "actors": 0,
        "consumers.oauth_client": 6, "consumer_oauth_client.introspection": 10,
        "tokens.enforcement": 6, "tokens.max_age": 2, "tokens.apps": 2, "caller.projects": 5, "rule.when": 11,
        "providers.notary": 11, "providers.sketch": 5, "limit": 2, "labels": 2, "grades": 2, "patched_within": 1,
        "once": 2, "deny_entry.app": 4, "deny_entry.until": 3, "oauth_client.providers": 8,
    ]

    static let hands: [String: Hand] = [
        "tokens.algorithm": { _, _ in "ES256" },
        "capture.public_key": { _, _ in .string(captureKey) },
        "callers": { values, place in values.written(callersIn: place) },
        "tokens[].sha256": { values, _ in
            values.scope.token += 1
            return .string(hash(of: values.scope.caller, values.scope.token - 1))
        },
        "tokens[].name": { values, _ in .string("t\(values.scope.token)") },
        "caller.tokens": { values, place in
            values.scope.token = values.random.pick([0, 0, 1])
            let one = place.elements.flatMap { values.described($0) }
            let other = values.random.happens(onceIn: 3) ? place.elements.flatMap { values.described($0) } : nil
            return .array([one, other].compactMap(\.self))
        },
        "tokens[].expires": { values, _ in values.end },
        "caller.sha256": { values, _ in .string(hash(of: values.scope.caller, 0)) },
        "caller.token": { values, _ in .string("env:\(values.scope.caller)") },
        "caller.projects": { values, _ in values.some(of: ["1", "2", "project-1", "project-2"]) },
        "projects": { values, place in values.written(projectsIn: place) },
        "project.number": { values, _ in .integer(Int64(values.scope.project)) },
        "project.id": { values, _ in .string("project-\(values.scope.project)") },
        "project.issuer": { values, _ in
            .string(values.random.pick(["https://issuer.example.com/", "https://other.example.com/"]))
        },
        "project_addition.project": { values, _ in .string("project-\(values.scope.project)") },
        "project.apps": { values, place in values.written(apps: ["a1", "a2"], in: place) },
        "project_addition.apps": { values, place in values.written(apps: ["a3"], in: place) },
        "project.oauth_clients": { values, place in
            guard values.scope.hasClient, let client = place.elements else { return nil }
            values.scope.providers = []
            return values.value(at: client).map { .array([$0]) }
        },
        "oauth_client": { values, place in
            // A lifetime is for the client's own providers.
            values.mapping(place).map { $0["providers"] == nil ? $0.with("token_ttl", nil) : $0 }
        },
        "oauth_client.id": { values, _ in .string("client-\(values.scope.project)") },
        "oauth_client.app": { values, _ in .string(values.appID("a1")) },
        "app.profile": { values, _ in
            values.scope.hasProfiles ? .string(values.random.pick(["one", "two"])) : nil
        },
        "profile.extends": { _, _ in "two" },
        "profiles": { values, place in values.written(profilesIn: place) },
        "providers": { values, place in
            let found = values.mapping(place)
            values.scope.providers += found?.members?.map(\.name) ?? []
            return found
        },
        "rules": { values, place in values.written(rulesIn: place) },
        "rule.name": { values, _ in .string("rule-\(values.random.pick([7, 8, 9]))") },
        "rule.when": { values, place in values.demands(place, on: values.facts) },
        "deny": { values, place in
            var entries: [JSON] = []
            for _ in 0..<values.random.pick([1, 1, 2]) {
                if let entry = place.elements.flatMap({ values.value(at: $0) }) { entries.append(entry) }
            }
            return .array(entries)
        },
        "deny_entry": { values, place in values.written(denial: place) },
        "deny_entry.app": { values, _ in
            .string(values.random.pick(["1:1:ios:a1", "1:2:ios:a1", "1:1:ios:a2", "1:2:ios:a2"]))
        },
        "deny_entry.until": { values, _ in values.end },
        "project.services": { values, place in
            let names = values.some(of: services).array?.compactMap(\.string) ?? []
            return values.mapping(place, names: names.filter { values.scope.project == 2 || $0 != oauth2 })
        },
        "service": { values, place in values.mapping(place).map { values.orderingLevels($0, standard: "OFF") } },
        "authorization_servers": { values, _ in [.string(authorizationServer(of: values.scope.project))] },
        "backends": { values, place in
            let names = backends(of: values.scope.project)
            return values.mapping(place, names: values.some(of: names).array?.compactMap(\.string) ?? [])
        },
        "backends.*": { values, place in
            guard var backend = values.described(place) else { return nil }
            let methods = backend["routes"]?.array?.flatMap { $0["methods"]?.array ?? [] } ?? []
            if methods.contains(.string(otherVerb)) { backend = backend.with("other_methods", [.string(otherVerb)]) }
            if backend["request_proof"] == nil, let routes = backend["routes"]?.array {
                backend = backend.with("routes", .array(routes.map { $0.with("request_proof", nil) }))
            }
            guard backend["editable"]?.bool == true else { return backend }
            // Administrators could not set replay protection above the enforcement.
            let levels = values.levels
            let stated = backend["tokens"] ?? [:]
            return backend.with(
                "tokens", stated.with("enforcement", .string(levels.0)).with("replay_protection", .string(levels.1)))
        },
        "routes": { values, place in values.written(routesIn: place) },
        "routes[].path": { values, _ in .string(values.random.pick(paths)) },
        "routes[].methods": { values, _ in
            values.some(of: verbs + (values.random.happens(onceIn: 6) ? [otherVerb] : []))
        },
        "other_methods": { _, _ in [.string(otherVerb)] },
        "original_request": { values, _ in
            .string(values.random.pick(["x-original", "x-original", "x-forwarded", "transport"]))
        },
        "request_proof.authorities": { _, _ in ["api.example.com"] },
        "tokens.providers": { values, _ in values.some(of: ["notary", "notary", "sketch", "mint"]) },
        "tokens.apps": { values, _ in values.some(of: values.scope.apps) },
        "provider_notary.labels": { values, _ in values.some(of: NotaryProvider.labels) },
        "shadow_notary.labels": { values, _ in values.some(of: NotaryProvider.labels) },
    ]

    /// One or more of some names, each once.
    mutating func some(of names: [String]) -> JSON {
        guard !names.isEmpty else { return [] }
        var found: [String] = []
        for name in names.shuffled(using: &random).prefix(Int.random(in: 1...names.count, using: &random))
        where !found.contains(name) {
            found.append(name)
        }
        return .array(found.map { .string($0) })
    }

    /// A time that is past, or far away: no clock of a test is near it.
    private var end: JSON {
        mutating get { .string(random.pick(["2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"])) }
    }

    /// Levels of enforcement and of replay protection that go together.
    private var levels: (String, String) {
        mutating get {
            random.pick([
                ("OFF", "OFF"), ("UNENFORCED", "OFF"), ("UNENFORCED", "UNENFORCED"), ("ENFORCED", "OFF"),
                ("ENFORCED", "UNENFORCED"), ("ENFORCED", "ENFORCED"), ("ENFORCED", "ENFORCED"),
            ])
        }
    }

    private func orderingLevels(_ value: JSON, standard: String) -> JSON {
        let order = ["OFF", "UNENFORCED", "ENFORCED"]
        let levels = ["enforcement", "replay_protection"].map { value[$0]?.string ?? standard }
        guard let first = order.firstIndex(of: levels[0]), let second = order.firstIndex(of: levels[1]), second > first
        else { return value }
        return value.with("enforcement", .string(levels[1])).with("replay_protection", .string(levels[0]))
    }

    private func appID(_ name: String) -> String { "1:\(scope.project):ios:\(name)" }

    // MARK: - Parts whose elements have names

    private mutating func written(callersIn place: SchemaPlace) -> JSON? {
        var members: [JSONMember] = [
            JSONMember(
                Self.administrator,
                ["sha256": .string(Self.hash(of: Self.administrator, 0)), "permissions": ["admin"]])
        ]
        for name in some(of: Self.callers).array?.compactMap(\.string) ?? [] {
            scope.caller = name
            if let caller = place.values.flatMap({ value(at: $0) }) { members.append(JSONMember(name, caller)) }
        }
        return .object(members)
    }

    private mutating func written(projectsIn place: SchemaPlace) -> JSON? {
        var projects: [JSON] = []
        guard let forms = place.elements?.forms, forms.count == 2 else { return nil }
        for number in 1...2 {
            scope.project = number
            scope.hasClient = random.happens(onceIn: 2) || always.contains { $0.contains("oauth_client") }
            scope.hasAddition = random.happens(onceIn: 4) || !always.isDisjoint(with: ["project_addition.apps"])
            scope.apps = ["a1", "a2"].map { appID($0) }
            if scope.hasClient { scope.apps.append("client-\(number)") }
            if scope.hasAddition { scope.apps.append(appID("a3")) }
            if let project = value(at: forms[0]) { projects.append(project) }
            if scope.hasAddition, let addition = value(at: forms[1]) { projects.append(addition) }
        }
        return .array(projects)
    }

    private mutating func written(apps names: [String], in place: SchemaPlace) -> JSON? {
        guard let app = place.elements else { return nil }
        var apps: [JSON] = []
        for name in names {
            scope.providers = []
            if let value = mapping(app) { apps.append(value.with("id", .string(appID(name)))) }
        }
        return .array(apps)
    }

    private mutating func written(profilesIn place: SchemaPlace) -> JSON? {
        guard scope.hasProfiles else { return nil }
        var profiles: [JSONMember] = []
        for name in ["one", "two"] {
            scope.providers = []
            guard var profile = place.values.flatMap({ value(at: $0) }) else { continue }
            if name == "two" { profile = profile.with("extends", nil) }
            profiles.append(JSONMember(name, profile))
        }
        return .object(profiles)
    }

    private mutating func written(rulesIn place: SchemaPlace) -> JSON? {
        guard let rule = place.elements else { return nil }
        var rules: [JSON] = []
        for index in 0..<Int.random(in: 1...3, using: &random) {
            guard var value = described(rule) else { continue }
            if value["then"]?.string != "mark" { value = value.with("claim", nil) }
            rules.append(value.with("name", .string("rule-\(index)")))
        }
        return .array(rules)
    }

    private mutating func written(routesIn place: SchemaPlace) -> JSON? {
        guard let route = place.elements else { return nil }
        var routes: [JSON] = []
        // The wider path comes last, so that every route is met.
        let paths = Set(some(of: Self.paths).array?.prefix(3).compactMap(\.string) ?? [])
        for path in Self.paths where paths.contains(path) {
            if let value = mapping(route) { routes.append(value.with("path", .string(path))) }
        }
        return .array(routes)
    }

    private mutating func written(denial place: SchemaPlace) -> JSON? {
        let own = mapping(place)?.members ?? []
        guard let demands = place.values.flatMap({ demands(at: $0, on: NotaryProvider.facts) }) else { return nil }
        return .object(own + demands)
    }

    // MARK: - Facts

    /// The facts that the providers of the app tell, with values.
    private var facts: [(FactName, [JSON])] {
        let provider = (FactName("provider", .text), [JSON.string("notary"), .string("sketch")])
        if scope.providers.contains("notary") { return NotaryProvider.facts + [provider] }
        if scope.providers.contains("sketch") {
            return NotaryProvider.facts.filter { $0.0.text == "label" } + [provider]
        }
        return []
    }

    private mutating func demands(_ place: SchemaPlace, on facts: [(FactName, [JSON])]) -> JSON? {
        guard !facts.isEmpty else { return nil }
        return place.values.flatMap { demands(at: $0, on: facts) }.map { .object($0) }
    }

    private mutating func demands(at place: SchemaPlace, on facts: [(FactName, [JSON])]) -> [JSONMember] {
        facts.shuffled(using: &random).prefix(random.pick([1, 1, 2])).compactMap { name, values in
            demand(place, on: name.type, values).map { JSONMember(name.text, $0) }
        }
    }

    /// A demand on one fact: a value, a list of values, or comparisons.
    private mutating func demand(_ place: SchemaPlace, on type: FactType, _ values: [JSON]) -> JSON? {
        let comparisons = place.forms.first { !$0.keys.isEmpty }?.keys ?? []
        let wanted = comparisons.filter { always.contains($0.path) }
        switch wanted.isEmpty ? Int.random(in: 0..<4, using: &random) : 3 {
        case 0: return random.pick(values)
        case 1: return .array([random.pick(values)])
        default:
            let hasOrder = [.integer, .instant, .duration, .version].contains(type)
            let possible = comparisons.filter { hasOrder || !Self.ordered.contains($0.name) }
            var members: [JSONMember] = []
            for key in wanted + possible.shuffled(using: &random).prefix(random.pick([1, 1, 2])) {
                guard possible.contains(where: { $0.name == key.name }),
                    !members.contains(where: { $0.name == key.name })
                else { continue }
                written.insert(key.path)
                members.append(JSONMember(key.name, operand(key, values)))
            }
            return members.isEmpty ? nil : .object(members)
        }
    }

    /// The comparisons that are for values with an order only.
    private static let ordered = ["below", "at_most", "above", "at_least"]

    private mutating func operand(_ key: SchemaPlace.Key, _ values: [JSON]) -> JSON {
        if key.place.types == ["boolean"] { return .bool(random.happens(onceIn: 2)) }
        guard key.place.elements != nil else { return random.pick(values) }
        var found: [JSON] = []
        for value in values.shuffled(using: &random).prefix(random.pick([1, 2])) { found.append(value) }
        return .array(found)
    }

    /// An operand of a comparison of the same fact, other than the one that is there.
    func otherOperand(than value: JSON) -> JSON {
        if let value = value.bool { return .bool(!value) }
        if let values = value.array { return .array(values.map { otherOperand(than: $0) }) }
        let possible = NotaryProvider.facts.map(\.1) + [["notary", "sketch"]]
        let alike = possible.first { $0.contains(value) } ?? []
        guard let index = alike.firstIndex(of: value) else { return value }
        return alike[(index + 1) % alike.count]
    }

    // MARK: - Changes

    /// Sets the scope to what a mapping is.
    mutating func enter(_ place: SchemaPlace, _ members: [JSONMember]) {
        let value = JSON.object(members)
        switch place.path {
        case "project":
            scope.project = Int(value["number"]?.integer ?? 1)
            let apps = (value["apps"]?.array ?? []) + (value["oauth_clients"]?.array ?? [])
            scope.apps = apps.compactMap { $0["id"]?.string }
        case "app", "oauth_client", "profile":
            scope.providers = value["providers"]?.members?.map(\.name) ?? []
        default: break
        }
    }
}

extension JSON {
    /// The same object with another value of a member; without it if there is none.
    func with(_ name: String, _ value: JSON?) -> JSON {
        var members = (members ?? [])
        let index = members.firstIndex { $0.name == name }
        if let index { members.remove(at: index) }
        if let value { members.insert(JSONMember(name, value), at: index ?? members.count) }
        return .object(members)
    }
}
