import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

/// A platform whose apps share what a team has.
private struct Radio: PlatformSection {
    static let name = "radio"
    static let summary = "What the radio knows the app by."
    static let keys: [ExactText: PolicyKey] = [:]
    static let shared: SharedSection? = SharedSection(
        "radio_teams", by: "team", summary: "What the apps of a team share.")

    let team: String
}

@Suite("Differences between two sets of policies")
struct PolicyChangesTests {
    private static let base = """
        callers:
          backend: {sha256: 0f, permissions: [a.read, a.write], projects: [example]}
        projects:
          - number: 1
            id: example
            services: {orders.example.com: {enforcement: ENFORCED}}
            consumers: {gate: {level: 3, tokens: {providers: [one]}}}
            apps:
              - id: 1:1:ios:a
                token_ttl: 1h
                providers: {one: {list: [x, y]}, two: }
                rules:
                  - {name: first, when: {version: {below: "2"}}, then: mark}
                  - {name: second, then: refuse, enforcement: shadow}
            oauth_clients:
              - {id: client, app: "1:1:ios:a"}

        """

    private static func read(_ text: String, _ name: String) -> PolicySet {
        let policies = PolicySet.read([PolicyFile(name: name, text: text)])
            .reading([Radio.self], providers: ["one", "two"])
        #expect(policies.problems?.description == nil)
        return policies
    }

    private static func changes(_ old: String, _ new: String) -> PolicyChanges {
        PolicyChanges(from: read(old, "old.yaml"), to: read(new, "new.yaml"))
    }

    @Test("What running clients lose is said with the statuses that they get, and what else changes is no loss")
    func losses() {
        func losses(_ part: String, _ with: String) -> [String] {
            Self.changes(Self.base, Self.base.replacing(part, with: with)).losses
        }
        let app = "projects/1/apps/1:1:ios:a"
        // That of its OAuth client is the same.
        #expect(losses("two: }", "}").count == 1)
        #expect(losses("two: }", "}")[0].hasPrefix("the app \(app) has no provider `two` any more"))
        #expect(losses("two: }", "}")[0].contains(" 400"))
        #expect(losses("      - {id: client, app: \"1:1:ios:a\"}", "      []").map { $0.contains(" 404") } == [true])
        #expect(losses("list: [x, y]", "list: [x]") == [])
        #expect(losses("orders.example.com", "other.example.com") == [])
        let gone = Self.changes(Self.base, "callers: {}").losses
        #expect(gone.count == 3)
        #expect(gone[0].hasPrefix("the project projects/1 is gone"))
        #expect(gone[1].hasPrefix("the app \(app) is gone"))
        #expect(gone[2].hasPrefix("the OAuth client oauthClients/client is gone"))
        #expect(Self.changes("callers: {}", Self.base).losses == [])
    }

    /// A change of one place of the base, and what it means.
    struct Example: Sendable, CustomTestStringConvertible {
        let part: String
        let with: String
        let lines: [String]
        let summary: String

        var testDescription: String { "\(part) -> \(with)" }

        init(_ part: String, _ with: String, _ lines: [String], _ summary: String) {
            (self.part, self.with, self.lines, self.summary) = (part, with, lines, summary)
        }
    }

    @Test(
        "Each difference is said with both values and both places, and the other way round as its reverse",
        arguments: [
            Example(
                "token_ttl: 1h", "token_ttl: 2h",
                [
                    "app projects/1/apps/1:1:ios:a: providers.one.token_ttl: 1h -> 2h (old.yaml:10:20 -> new.yaml:10:20)",
                    "app projects/1/apps/1:1:ios:a: providers.two.token_ttl: 1h -> 2h (old.yaml:10:20 -> new.yaml:10:20)",
                ], "apps 1 changed"),
            Example(
                "        token_ttl: 1h\n", "",
                [], "no difference"),
            Example(
                "token_ttl: 1h", "token_ttl: 60m",
                [], "no difference"),
            Example(
                "list: [x, y]", "list: [x, z]",
                [
                    "app projects/1/apps/1:1:ios:a: providers.one.list: removed y (old.yaml:11:37)",
                    "app projects/1/apps/1:1:ios:a: providers.one.list: added z (new.yaml:11:37)",
                ], "apps 1 changed"),
            Example(
                "list: [x, y]", "list: [y, x]",
                [
                    "app projects/1/apps/1:1:ios:a: providers.one.list: [x, y] -> [y, x] (old.yaml:11:33 -> new.yaml:11:33)"
                ],
                "apps 1 changed"),
            Example(
                "list: [x, y]", "list: [x, y, x]",
                ["app projects/1/apps/1:1:ios:a: providers.one.list: added x (new.yaml:11:40)"], "apps 1 changed"),
            Example("list: [x, y]", "list: [\"x\", 'y'], none: null", [], "no difference"),
            Example(
                "list: [x, y]", "list: {x: 1}",
                [
                    "app projects/1/apps/1:1:ios:a: providers.one.list: [x, y] -> {x: 1} (old.yaml:11:33 -> new.yaml:11:33)"
                ],
                "apps 1 changed"),
            Example("two: }", "two: {}}", [], "no difference"),
            Example(
                ", two: }", "}",
                ["app projects/1/apps/1:1:ios:a: providers.two: removed {token_ttl: 1h} (old.yaml:11:47)"],
                "apps 1 changed"),
            Example(
                "then: mark", "then: refuse",
                ["app projects/1/apps/1:1:ios:a: rules.first.then: mark -> refuse (old.yaml:13:64 -> new.yaml:13:64)"],
                "apps 1 changed"),
            Example(
                ", enforcement: shadow", "",
                [
                    "app projects/1/apps/1:1:ios:a: rules.second.enforcement: shadow -> enforced (old.yaml:14:55 -> default)"
                ], "apps 1 changed"),
            Example(", enforcement: shadow", ", claim: false, enforcement: shadow", [], "no difference"),
            Example(
                "{below: \"2\"}", "\"2\"",
                [
                    "app projects/1/apps/1:1:ios:a: rules.first.when.version.below: removed 2 (old.yaml:13:51)",
                    "app projects/1/apps/1:1:ios:a: rules.first.when.version.is: added 2 (new.yaml:13:43)",
                ], "apps 1 changed"),
            Example(
                "  - {name: second", "  - {name: third, then: allow}\n          - {name: second",
                [
                    "app projects/1/apps/1:1:ios:a: rules.third: added {name: third, when: {}, then: allow, claim: false, enforcement: enforced} (new.yaml:14:13)"
                ], "apps 1 changed"),
            Example(
                "permissions: [a.read, a.write]", "permissions: [a.write, a.read]", [], "no difference"),
            Example(
                "permissions: [a.read, a.write]", "permissions: [a.write, a.admin]",
                [
                    "caller backend: permissions: removed a.read (old.yaml:2:39)",
                    "caller backend: permissions: added a.admin (new.yaml:2:48)",
                ], "callers 1 changed"),
            Example(
                "sha256: 0f", "token: env:X",
                [
                    "caller backend: sha256: removed 0f (old.yaml:2:21)",
                    "caller backend: token: added env:X (new.yaml:2:20)",
                ], "callers 1 changed"),
            Example(
                "  backend:", "  other: {permissions: [admin]}\n  backend:",
                ["caller other: added [admin] (new.yaml:2:3)"], "callers 1 added"),
            Example(
                "enforcement: ENFORCED", "enforcement: UNENFORCED",
                [
                    "service projects/1/services/orders.example.com: enforcement: ENFORCED -> UNENFORCED (old.yaml:6:50 -> new.yaml:6:50)"
                ], "services 1 changed"),
            Example(
                "services: {orders.example.com: {enforcement: ENFORCED}}", "services: {orders.example.com: {}}",
                [
                    "service projects/1/services/orders.example.com: enforcement: ENFORCED -> OFF (old.yaml:6:50 -> default)"
                ], "services 1 changed"),
            Example(
                "services: {orders.example.com: {enforcement: ENFORCED}}", "services: {}",
                ["service projects/1/services/orders.example.com: removed ENFORCED (old.yaml:6:16)"],
                "services 1 removed"),
            Example(
                "level: 3", "level: 4",
                ["consumer projects/1/consumers/gate: level: 3 -> 4 (old.yaml:7:31 -> new.yaml:7:31)"],
                "consumers 1 changed"),
            Example(
                "    services:", "    stage: development\n    services:",
                [
                    "project projects/1: stage: production -> development (default -> new.yaml:6:12)",
                    "project projects/1: verification.accept_development: false -> true (default -> default)",
                    "service projects/1/services/orders.example.com: accept_development: false -> true (default -> default)",
                    "consumer projects/1/consumers/gate: tokens.accept_development: false -> true (default -> default)",
                ], "projects 1 changed; services 1 changed; consumers 1 changed"),
            Example(
                "callers:", "tokens: {algorithm: ES256}\ncallers:",
                [
                    "tokens: algorithm: RS256 -> ES256 (default -> new.yaml:1:21)",
                    "tokens: rsa_bits: removed 2048 (default)",
                ], "tokens changed"),
            Example("callers:", "tokens: {rsa_bits: 2048}\nrevision: next\ncallers:", [], "no difference"),
            Example(
                "        rules:", "        rate_limit: {requests: 60}\n        rules:",
                [
                    "app projects/1/apps/1:1:ios:a: rate_limit: added {requests: 60, interval: 1m, burst: 60} (new.yaml:12:21)"
                ], "apps 1 changed"),
            Example(
                "app: \"1:1:ios:a\"}", "app: \"1:1:ios:a\", providers: {one: {list: [x, y]}, two: }}", [],
                "no difference"),
            Example(
                "app: \"1:1:ios:a\"}", "app: \"1:1:ios:a\", providers: {one: {list: [x, y]}}}",
                ["OAuth client oauthClients/client: providers.two: removed {token_ttl: 1h} (old.yaml:11:47)"],
                "OAuth clients 1 changed"),
            Example(
                "    oauth_clients:\n      - {id: client, app: \"1:1:ios:a\"}\n", "",
                ["OAuth client oauthClients/client: removed one, two (old.yaml:16:9)"], "OAuth clients 1 removed"),
            Example(
                "      - id: 1:1:ios:a\n",
                "      - {id: \"1:1:ios:b\", providers: {one: {}}}\n      - id: 1:1:ios:a\n",
                ["app projects/1/apps/1:1:ios:b: added one (new.yaml:9:9)"], "apps 1 added"),
        ])
    func single(_ example: Example) {
        #expect(Self.base.contains(example.part))
        let new = Self.base.replacing(example.part, with: example.with, maxReplacements: 1)
        let changes = Self.changes(Self.base, new)
        #expect(changes.lines() == example.lines)
        #expect(changes.summary == example.summary)
        #expect(changes.isEmpty == example.lines.isEmpty)
        let reverse = Self.changes(new, Self.base)
        #expect(reverse.all.count == changes.all.count)
        #expect(reverse.isEmpty == changes.isEmpty)
        #expect(
            reverse.all.map(\.path).sorted() == changes.all.map(\.path).sorted()
                && reverse.all.compactMap { $0.old?.text }.sorted() == changes.all.compactMap { $0.new?.text }.sorted())
    }

    @Test("Two apps in another order of rules differ, and rules that are the same are not repeated")
    func order() {
        let rules = ["{name: a, then: allow}", "{name: b, then: refuse}", "{name: c, then: mark}"]
        func set(_ order: [Int]) -> String {
            "projects: [{number: 1, id: x, apps: [{id: \"1:1:ios:a\", providers: {one: {}}, rules: [\(order.map { rules[$0] }.joined(separator: ", "))]}]}]"
        }
        let changes = Self.changes(set([0, 1, 2]), set([2, 0, 1]))
        #expect(
            changes.lines() == [
                "app projects/1/apps/1:1:ios:a: rules: [a, b, c] -> [c, a, b] (old.yaml:1:85 -> new.yaml:1:85)"
            ])
        // What is only added or removed is no other order.
        #expect(Self.changes(set([0, 2]), set([0, 1, 2])).all.map(\.path) == ["rules.b"])
    }

    @Test("What moves into profiles, teams, issuers and other files makes no difference, and keeps its value")
    func refactoring() {
        let plain = """
            callers:
              deployer: {jwt: {issuer: "https://login.example.com/", subjects: [x]}, permissions: [admin]}
            projects:
              - number: 1
                id: example
                apps:
                  - {id: "1:1:ios:a", radio: {team: T}, token_ttl: 2h, providers: {one: {level: 3, inner: {a: 1, b: 2}}}}
                  - {id: "1:1:ios:b", name: Other, radio: {team: T}, token_ttl: 2h, providers: {one: {level: 3, inner: {a: 1, b: 2}}}}
            """
        let shared = """
            radio_teams: {T: {one: {inner: {b: 2}}}}
            issuers: {login: {issuer: "https://login.example.com/"}}
            profiles:
              base: {providers: {one: {level: 3, inner: {a: 1}}}}
              long: {extends: base, token_ttl: 2h, radio: {team: T}}
            callers:
              deployer: {permissions: [admin], jwt: {extends: login, subjects: [x]}}
            projects:
              - number: 1
                id: example
                apps:
                  - {id: "1:1:ios:a", profile: long}
              - {project: example, apps: [{id: "1:1:ios:b", profile: long}]}
            """
        #expect(Self.changes(plain, shared).lines() == [])
        let other = shared.replacing("b: 2", with: "b: 3")
        #expect(
            Self.changes(plain, other).lines() == [
                "app projects/1/apps/1:1:ios:a: providers.one.inner.b: 2 -> 3 (old.yaml:7:105 -> new.yaml:1:36)",
                "app projects/1/apps/1:1:ios:b: providers.one.inner.b: 2 -> 3 (old.yaml:8:118 -> new.yaml:1:36)",
            ])
    }

    @Test("A change for programs has all parts, and null for what there is not")
    func json() {
        let new = Self.base.replacing("token_ttl: 1h", with: "token_ttl: 2h").replacing(
            "{enforcement: ENFORCED}", with: "{}")
        let changes = Self.changes(Self.base, new)
        #expect(
            changes.all.map { String(decoding: $0.json.encoded, as: UTF8.self) }.first
                == #"{"subject":"service","name":"projects/1/services/orders.example.com","change":"changed","path":"enforcement","old":"ENFORCED","new":"OFF","old_place":{"file":"old.yaml","line":6,"column":50},"new_place":null}"#
        )
        #expect(
            String(decoding: changes.summaryJSON.encoded, as: UTF8.self)
                == #"{"service":{"added":0,"removed":0,"changed":1},"app":{"added":0,"removed":0,"changed":1},"omitted":0}"#
        )
        #expect(changes.lines(limit: 1).count == 2 && changes.lines(limit: 1).last == "and 2 more")
    }

    @Test("Many changes are counted, and the first thousand kept")
    func many() {
        func set(_ lifetime: String, _ count: Int) -> PolicySet {
            let apps = (0..<count).map {
                "      - {id: \"1:1:ios:\($0)\", token_ttl: \(lifetime), radio: {team: T}, providers: {one: {list: [a, b, c], inner: {x: 1, y: 2}}, two: {}}}"
            }
            return Self.read(
                "projects:\n  - number: 1\n    id: x\n    apps:\n\(apps.joined(separator: "\n"))\n", "a.yaml")
        }
        let changes = PolicyChanges(from: set("1h", 600), to: set("2h", 600))
        #expect(changes.all.count == 1000 && changes.omitted == 200)
        #expect(changes.count(.app, .changed) == 600)
    }

    @Test("Digests that differ at their ends are told apart, however long they are")
    func digests() {
        for length in [63, 127] {
            let texts = ["a", "b"].map { String(repeating: "0", count: length) + $0 }
            let changes = Self.changes(
                "deny: [{key_id: \"\(texts[0])\"}]\n\(Self.base)", "deny: [{key_id: \"\(texts[1])\"}]\n\(Self.base)")
            #expect(changes.all.map(\.name).map { $0.hasSuffix("0a}") } == [true, false])
            #expect(changes.all.map(\.name).map { $0.hasSuffix("0b}") } == [false, true])
            #expect(changes.all.allSatisfy { $0.name.contains("…") == (length > 64) })
        }
    }

    @Test("A long value is cut, and steers no terminal")
    func bounds() throws {
        let long = String(repeating: "x", count: 300)
        let new = Self.base.replacing(
            "level: 3",
            with:
                "level: {a: \(long), b: \"\\e[31m\", c: [\(Array(repeating: "element", count: 100).joined(separator: ", "))]}"
        )
        let change = try #require(Self.changes(Self.base, new).all.first)
        let text = try #require(change.new?.text)
        #expect(text.unicodeScalars.count == 161 && text.hasSuffix("…"))
        let cut = "\(String(repeating: "x", count: 51))…\(String(repeating: "x", count: 12))"
        #expect(text.hasPrefix("{a: \(cut), b: \u{FFFD}[31m, c: [element, "))
    }

    @Test("An empty list, an empty mapping and nothing at all are the same")
    func empty() {
        let empty = ["[]", "{}", ""].map { Self.base.replacing("list: [x, y]", with: "list: \($0)") }
        for (old, new) in [(0, 1), (1, 0), (0, 2), (2, 1)] {
            #expect(Self.changes(empty[old], empty[new]).isEmpty, "\(old) \(new)")
        }
        #expect(!Self.changes(empty[0], Self.base).isEmpty)
    }

    @Test("Each entry of the deny list is one thing, wherever it is in the list")
    func denials() {
        let old = "deny: [{jti: a}, {jti: b}]\n\(Self.base)"
        let changes = Self.changes(old, "deny: [{jti: b}, {jti: c, note: x}]\n\(Self.base)")
        #expect(changes.all.map(\.name) == ["deny {jti: a}", "deny {jti: c, note: x}"])
        #expect(changes.all.map(\.kind) == [.removed, .added])
        #expect(changes.summary == "sections 1 added, 1 removed")
        #expect(Self.changes(old, "deny: [{jti: b}, {jti: a}]\n\(Self.base)").isEmpty)
    }

    @Test("Of very many changes in one thing some are shown, and the others counted")
    func omitted() {
        let many = (0..<250).map { "k\($0): \($0)" }.joined(separator: ", ")
        let changes = Self.changes(Self.base, Self.base.replacing("list: [x, y]", with: "list: [x, y], \(many)"))
        #expect(changes.all.count + changes.omitted == 250 && changes.omitted > 0)
        #expect(changes.lines().last == "and 150 more")
    }
}
