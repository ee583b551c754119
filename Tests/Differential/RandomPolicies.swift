import AssayCore
import AssayCrypto
import AssayTestSupport

/// A random set of policies, which can be changed at random.
struct RandomPolicies {
    struct Demand {
        var members: [String: String] = [:]
        var text: String {
            "{" + members.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ") + "}"
        }
    }

    struct Route {
        var path: String
        var methods: String?
        var tokens: Demand
    }

    struct Backend {
        var tokens: Demand?
        var routes: [Route]
    }

    struct App {
        var id: String
        /// The sections of providers by their names.
        var providers: [String: String]
        var rules: [String]
        var isClient = false
    }

    struct Project {
        var number: Int
        var issuer: String?
        var isForDevelopment: Bool
        var acceptsDevelopment: Bool
        var services: [String: String]
        /// Nil for no consumer.
        var backends: [String: Backend]?
        var tokens: Demand?
        var apps: [App]
        var id: String { "project-\(number)" }
    }

    struct Caller {
        var tokens: [(text: String, expires: String?)]
        var permissions: [String]
        var projects: [String]?
    }

    var callers: [String: Caller] = [:]
    var denials: [String] = []
    var projects: [Project] = []

    static let serials = ["s-one", "s-two", "Gerät"]
    static let labels = ["red", "grün", "a\u{301}", "\u{e1}"]
    static let builds = ["1.2", "1.10", "2.0"]
    static let paths = ["/payments/*", "/payments/1", "/open", "/**"]
    static let serviceNames = ["orders.example.com", "firestore.googleapis.com"]
    static let levels = ["OFF", "UNENFORCED", "ENFORCED"]

    init(_ random: inout SplitMix) {
        projects = (1...2).map { Self.project($0, &random) }
        for name in ["alice", "bob", "carol"].prefix(Int.random(in: 1...3, using: &random)) {
            callers[name] = caller(name, &random)
        }
        if random.happens(onceIn: 2) { denials = [denial(&random)] }
    }

    // MARK: - Parts

    private static func demand(_ random: inout SplitMix, apps: [String] = []) -> Demand {
        var demand = Demand()
        if random.happens(onceIn: 2) { demand.members["enforcement"] = random.pick(levels) }
        if random.happens(onceIn: 4) { demand.members["limited_use"] = random.pick(["true", "false"]) }
        if random.happens(onceIn: 6) { demand.members["max_age"] = random.pick(["1m", "1h"]) }
        if random.happens(onceIn: 5) {
            demand.members["providers"] = random.pick(["[notary]", "[sketch]", "[notary, sketch]"])
        }
        if random.happens(onceIn: 4) { demand.members["accept_development"] = random.pick(["true", "false"]) }
        if random.happens(onceIn: 5) { demand.members["accept_oauth_clients"] = random.pick(["true", "false"]) }
        if random.happens(onceIn: 5) { demand.members["replay_protection"] = random.pick(levels) }
        if random.happens(onceIn: 6), !apps.isEmpty { demand.members["apps"] = "[\"\(random.pick(apps))\"]" }
        return demand
    }

    private static func backend(_ random: inout SplitMix, _ apps: [String]) -> Backend {
        var routes: [Route] = []
        if random.happens(onceIn: 2) {
            var seen: Set<String> = []
            for path in paths.shuffled(using: &random).prefix(2) where path != "/**" || seen.isEmpty == false {
                seen.insert(path)
                routes.append(
                    Route(
                        path: path, methods: random.happens(onceIn: 3) ? "[POST]" : nil,
                        tokens: demand(&random, apps: apps)))
            }
            // The wider path comes last, so that every route is met.
            routes.sort {
                paths.reversed().firstIndex(of: $0.path) ?? 0 > paths.reversed().firstIndex(of: $1.path) ?? 0
            }
            routes.sort { ($0.path == "/payments/1" ? 0 : 1) < ($1.path == "/payments/1" ? 0 : 1) }
        }
        return Backend(tokens: random.happens(onceIn: 2) ? demand(&random, apps: apps) : nil, routes: routes)
    }

    private static func app(_ id: String, isClient: Bool, _ random: inout SplitMix) -> App {
        var providers: [String: String] = [:]
        if !random.happens(onceIn: 5) { providers["notary"] = random.happens(onceIn: 3) ? "{limit: 5}" : "{}" }
        if !isClient, random.happens(onceIn: 2) || providers.isEmpty { providers["sketch"] = "{}" }
        if providers.isEmpty { providers["notary"] = "{}" }
        // OAuth clients have no rules.
        let count = isClient ? 0 : Int.random(in: 0...2, using: &random)
        let rules = (0..<count).map { rule($0, providers, &random) }
        return App(id: id, providers: providers, rules: rules, isClient: isClient)
    }

    private static func rule(_ number: Int, _ providers: [String: String], _ random: inout SplitMix) -> String {
        let condition: String
        if providers["notary"] != nil {
            condition = random.pick([
                "score: {above: \(Int.random(in: 0...6, using: &random))}", "build: {below: \"2\"}", "rooted: true",
                "label: [\"\(random.pick(labels))\"]", "serial: [\"\(random.pick(serials))\"]",
            ])
        } else {
            condition = "label: [\"\(random.pick(labels))\"]"
        }
        let then = random.pick(["refuse", "mark", "allow"])
        return
            "{name: rule-\(number), when: {\(condition)}, then: \(then)\(random.happens(onceIn: 4) ? ", enforcement: shadow" : "")}"
    }

    private static func project(_ number: Int, _ random: inout SplitMix) -> Project {
        var apps = (1...2).map { app("1:\(number):ios:a\($0)", isClient: false, &random) }
        if random.happens(onceIn: 2) { apps.append(app("client-\(number)", isClient: true, &random)) }
        let names = apps.map(\.id)
        var services: [String: String] = [:]
        for name in serviceNames where random.happens(onceIn: 2) { services[name] = service(&random) }
        var project = Project(
            number: number, issuer: nil, isForDevelopment: random.happens(onceIn: 4),
            acceptsDevelopment: random.happens(onceIn: 2), services: services, backends: nil,
            tokens: random.happens(onceIn: 3) ? demand(&random, apps: names) : nil, apps: apps)
        if !random.happens(onceIn: 5) {
            project.backends = Dictionary(
                uniqueKeysWithValues: ["orders", "stock"].prefix(Int.random(in: 1...2, using: &random)).map {
                    ("\($0)-\(number)", backend(&random, names))
                })
        }
        return project
    }

    private static func service(_ random: inout SplitMix) -> String {
        var members = ["enforcement: \(random.pick(levels))"]
        if random.happens(onceIn: 3) { members.append("accept_development: true") }
        if random.happens(onceIn: 3) { members.append("accept_oauth_clients: true") }
        return "{\(members.joined(separator: ", "))}"
    }

    private func caller(_ name: String, _ random: inout SplitMix) -> Caller {
        var tokens: [(text: String, expires: String?)] = [(Self.token(of: name, 0), nil)]
        if random.happens(onceIn: 3) {
            tokens[0].expires = random.pick(["2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"])
        }
        return Caller(
            tokens: tokens,
            permissions: random.pick([
                ["appCheckTokens.verify"], ["tokens.mint"], ["admin"], ["appCheckTokens.verify", "tokens.mint"],
            ]),
            projects: random.happens(onceIn: 2) ? [random.pick(projects.map(\.id))] : nil)
    }

    static func token(of name: String, _ version: Int) -> String { "\(name)-token-0123456789-\(version)" }

    private func denial(_ random: inout SplitMix) -> String {
        let subject = random.pick([
            "serial: \"\(random.pick(Self.serials))\"", "label: \"\(random.pick(Self.labels))\"", "score: {above: 3}",
            "rooted: true", "build: {below: \"1.5\"}",
        ])
        var members = [subject]
        if random.happens(onceIn: 3) {
            let apps = projects.flatMap(\.apps).filter { $0.providers["notary"] != nil }.map(\.id)
            if !apps.isEmpty { members.append("app: \"\(random.pick(apps))\"") }
        }
        if random.happens(onceIn: 3) {
            members.append("until: \(random.pick(["2001-01-01T00:00:00Z", "2099-01-01T00:00:00Z"]))")
        }
        return "{\(members.joined(separator: ", "))}"
    }

    // MARK: - Changes

    /// Changes one thing at random, which may be none where there is nothing of the kind.
    mutating func change(_ random: inout SplitMix, tokens: [String]) {
        let index = Int.random(in: 0..<projects.count, using: &random)
        let names = projects[index].apps.map(\.id)
        switch Int.random(in: 0..<14, using: &random) {
        case 0: denials.append(denial(&random))
        case 1: denials = []
        case 2: if let token = tokens.randomElement(using: &random) { denials.append("{jti: \"\(token)\"}") }
        case 3:
            let app = Int.random(in: 0..<projects[index].apps.count, using: &random)
            projects[index].apps[app] = Self.app(
                projects[index].apps[app].id, isClient: projects[index].apps[app].isClient, &random)
        case 4: if projects[index].apps.count > 1 { projects[index].apps.removeLast() }
        case 5: projects[index].issuer = random.pick([nil, "https://issuer.example.com/"])
        case 6: projects[index].isForDevelopment.toggle()
        case 7: projects[index].acceptsDevelopment.toggle()
        case 8: projects[index].services[random.pick(Self.serviceNames)] = Self.service(&random)
        case 9: projects[index].services = [:]
        case 10:
            if let name = projects[index].backends?.keys.sorted().randomElement(using: &random) {
                projects[index].backends?[name] = Self.backend(&random, names)
            }
        case 11: projects[index].tokens = Self.demand(&random, apps: names)
        case 12:
            if let name = callers.keys.sorted().randomElement(using: &random) { callers[name] = caller(name, &random) }
        default:
            if let name = callers.keys.sorted().randomElement(using: &random) {
                callers[name]?.tokens = [(Self.token(of: name, 1), nil)]
            }
        }
    }

    // MARK: - The file

    var text: String {
        var lines = ["tokens: {algorithm: ES256}"]
        if !denials.isEmpty { lines.append("deny: [\(denials.joined(separator: ", "))]") }
        lines.append("callers:")
        for (name, caller) in callers.sorted(by: { $0.key < $1.key }) {
            let tokens = caller.tokens.enumerated().map { index, token in
                let hash = Hex.encode(SHA256.hash(Array(token.text.utf8)))
                return "{name: t\(index), sha256: \(hash)\(token.expires.map { ", expires: \($0)" } ?? "")}"
            }
            let projects = caller.projects.map { ", projects: [\($0.joined(separator: ", "))]" } ?? ""
            lines.append(
                "  \(name): {tokens: [\(tokens.joined(separator: ", "))], permissions: [\(caller.permissions.joined(separator: ", "))]\(projects)}"
            )
        }
        lines.append("projects:")
        for project in projects { lines += Self.lines(project) }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(_ project: Project) -> [String] {
        var lines = ["  - number: \(project.number)", "    id: \(project.id)"]
        if let issuer = project.issuer { lines.append("    issuer: \(issuer)") }
        if project.isForDevelopment { lines.append("    stage: development") }
        lines.append("    verification: {accept_development: \(project.acceptsDevelopment)}")
        if !project.services.isEmpty {
            lines.append("    services:")
            for (name, service) in project.services.sorted(by: { $0.key < $1.key }) {
                lines.append("      \(name): \(service)")
            }
        }
        if let backends = project.backends {
            lines += ["    consumers:", "      custom_backend:"]
            if let tokens = project.tokens { lines.append("        tokens: \(tokens.text)") }
            lines.append("        backends:")
            for (name, backend) in backends.sorted(by: { $0.key < $1.key }) {
                var members = ["original_request: x-original"]
                if let tokens = backend.tokens { members.append("tokens: \(tokens.text)") }
                if !backend.routes.isEmpty {
                    let routes = backend.routes.map { route in
                        "{path: \"\(route.path)\"\(route.methods.map { ", methods: \($0)" } ?? ""), tokens: \(route.tokens.text)}"
                    }
                    members.append("routes: [\(routes.joined(separator: ", "))]")
                }
                lines.append("          \(name): {\(members.joined(separator: ", "))}")
            }
        }
        for (key, isClient) in [("apps", false), ("oauth_clients", true)] {
            let apps = project.apps.filter { $0.isClient == isClient }
            guard !apps.isEmpty else { continue }
            lines.append("    \(key):")
            for app in apps {
                var members = ["id: \"\(app.id)\""]
                if isClient { members.append("app: \"1:\(project.number):ios:a1\"") }
                let providers = app.providers.sorted { $0.key < $1.key }.map { "\($0): \($1)" }
                members.append("providers: {\(providers.joined(separator: ", "))}")
                if !app.rules.isEmpty { members.append("rules: [\(app.rules.joined(separator: ", "))]") }
                lines.append("      - {\(members.joined(separator: ", "))}")
            }
        }
        return lines
    }
}
