import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayStandard
import AssayYAML
import Testing

@Suite("Recorded decisions of consumers and services under other policies")
struct ConsumerReplayTests {
    private static let base = """
        callers:
          asker: {sha256: "\(String(repeating: "0f", count: 32))", permissions: [admin], projects: [example]}
        projects:
          - number: 1
            id: example
            services: {open.example.com: {enforcement: "OFF"}, strict.example.com: {enforcement: ENFORCED}}
            consumers:
              oauth_client:
                authorization_servers: ["https://login.example.com"]
                clients: {"1:1:ios:a": c}
                tokens: {accept_development: true}
                introspection: {}
                attester: {ttl: 1h}
              custom_backend: {tokens: {accept_development: true}, backends: {orders: {}}}
            apps:
              - id: "1:1:ios:a"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers: {app_attest: {}, debug: {managed: {}}}
                rules: [{name: all, when: {provider: app_attest}, then: refuse}]
            oauth_clients:
              - {id: client, app: "1:1:ios:a"}
          - {number: 2, id: other}
        """

    private static func read(_ text: String) throws -> (policies: PolicySet, registry: Registry) {
        let registry = try Registry(.standard)
        let policies = registry.effective(PolicySet.read([PolicyFile(name: "a.yaml", text: text)]))
        #expect(policies.problems?.description == nil)
        return (policies, registry)
    }

    private static func found(_ lines: [String], _ changes: [(String, String)], in base: String = base) throws
        -> [String]
    {
        var text = base
        for (part, with) in changes {
            #expect(text.contains(part))
            text = text.replacing(part, with: with, maxReplacements: 1)
        }
        var replay = try DecisionReplay(from: try read(base), to: try read(text))
        for line in lines { replay.read(Array(line.utf8)[...]) }
        let report = replay.result
        return report.changed.map { "\($0.group.old) -> \($0.group.new)" }
            + report.notJudged.keys.sorted().map { "not judged: \($0)" } + (report.same > 0 ? ["same"] : [])
            + (report.otherPolicies > 0 ? ["other"] : [])
    }

    private static func line(
        _ outcome: String, of method: String = "attestClient", on resource: String = "projects/1",
        by provider: String? = "app_attest", app: String? = "1:1:ios:a", _ rest: String = ""
    ) -> String {
        let words = outcome.split(separator: " ")
        let cause =
            words.count == 1 ? "" : ",\"\(words[0] == "refused" ? "reason" : "status")\":\"\(words[1])\""
        return
            "{\"decision\":\"D\",\"method\":\"\(method)\",\"resource\":\"\(resource)\",\"outcome\":\"\(words[0])\"\(cause)"
            + (provider.map { ",\"provider\":\"\($0)\"" } ?? "")
            + (app.map { ",\"facts\":{\"app\":\"\($0)\"}" } ?? "") + "\(rest)}"
    }

    private static let demand = "tokens: {accept_development: true}\n        introspection"
    private static let nothing = [("id: other", "id: another")]

    struct Example: Sendable, CustomTestStringConvertible {
        let changes: [(String, String)]
        let line: String
        let result: String

        var testDescription: String { "\(changes): \(line)" }

        init(_ changes: [(String, String)], _ line: String, _ result: String) {
            (self.changes, self.line, self.result) = (changes, line, result)
        }
    }

    private static let examples = [
        Example(nothing, line("answered"), "same"),
        // The demand on providers and apps, on development, and on clients.
        Example(
            [(demand, "tokens: {providers: [debug], accept_development: true}\n        introspection")],
            line("answered"),
            "answered -> refused token_provider_not_allowed"),
        Example([(demand, "tokens: {providers: [app_attest]}\n        introspection")], line("answered"), "same"),
        Example(
            [(demand, "tokens: {replay_protection: ENFORCED}\n        introspection")], line("answered"),
            "not judged: whether the token had been used before is not recorded"),
        Example(
            [(demand, "tokens: {apps: [client]}\n        introspection")], line("answered"),
            "answered -> refused token_app_not_allowed"),
        Example(
            [(demand, "tokens: {accept_development: false}\n        introspection")], line("answered", by: "debug"),
            "answered -> refused token_for_development"),
        Example(
            [("debug: {managed: {}}", "device_check: {key_id: DCKEY12345, private_key: \"env:X\"}")],
            line("answered", by: "debug"), "answered -> refused token_provider_not_allowed"),
        Example(nothing, line("answered", app: "client"), "same"),
        Example(
            nothing,
            line(
                "answered", of: "protect", on: "projects/1/services/strict.example.com", app: nil,
                ",\"token_use\":{\"category\":\"verified\",\"app\":\"client\",\"enforcement\":\"ENFORCED\"}"), "other"),
        Example(nothing, line("answered", by: "mint"), "same"),
        // What the parts of this consumer demand is known.
        Example(
            [
                (
                    "custom_backend: {tokens: {accept_development: true}",
                    "custom_backend: {tokens: {accept_development: false}"
                )
            ],
            line("answered", of: "verifyRequest", by: "debug"), "answered -> refused token_for_development"),
        Example(
            [("{app_attest: {}, debug", "{debug")],
            line("answered", of: "verifyRequest"), "answered -> refused token_provider_not_allowed"),
        // Who calls, and which consumer there is.
        Example(
            [("projects: [example]", "projects: [other]")],
            line("answered", of: "introspectProjectToken", ",\"caller\":\"asker\""),
            "answered -> rejected PERMISSION_DENIED"),
        Example(
            [("attester: {ttl: 1h}", "attester: {ttl: 2h}")],
            line("refused token_missing", by: nil, app: nil),
            "not judged: the record does not say which consumer was meant"),
        Example(nothing, line("refused token_missing", by: nil, app: nil), "same"),
        Example(nothing, line("refused consumer_unknown", on: "projects/2"), "same"),
        // Services.
        Example(
            [("\"OFF\"", "UNENFORCED")],
            line(
                "answered", of: "protect", on: "projects/1/services/open.example.com", by: nil, app: nil,
                ",\"token_use\":{\"category\":\"invalid\",\"enforcement\":\"OFF\"},\"unenforced_reason\":\"token_expired\""
            ),
            "same"),
        Example(
            [("enforcement: ENFORCED", "enforcement: \"OFF\"")],
            line(
                "refused token_expired", of: "protect", on: "projects/1/services/strict.example.com", by: nil, app: nil,
                ",\"token_use\":{\"category\":\"invalid\",\"enforcement\":\"ENFORCED\"}"),
            "refused token_expired -> answered"),
        // Evidence that a rule refused, under other settings of its provider.
        Example(
            [("rules: [{name: all, when: {provider: app_attest}, then: refuse}]", "token_ttl: 2h")],
            line(
                "refused rule_refused", of: "exchangeAppAttestAssertion", on: "projects/1/apps/1:1:ios:a",
                ",\"rule\":\"all\""),
            "refused rule_refused -> issued"),
        Example(
            [
                ("rules: [{name: all, when: {provider: app_attest}, then: refuse}]", "token_ttl: 2h"),
                ("app_attest: {}", "app_attest: {receipts: required}"),
            ],
            line(
                "refused rule_refused", of: "exchangeAppAttestAssertion", on: "projects/1/apps/1:1:ios:a",
                ",\"rule\":\"all\""),
            "not judged: the provider's settings differ, and evidence is not recorded"),
        Example(
            [("    id: example\n", "    id: example\n    stage: development\n")],
            line("refused nonce_mismatch", of: "exchangeAppAttestAssertion", on: "projects/1/apps/1:1:ios:a"),
            "not judged: settings of the plugin differ, and evidence and tokens are not recorded"),
    ]

    @Test("Each decision is judged by what is on record", arguments: examples)
    func judged(_ example: Example) throws {
        #expect(try Self.found([example.line], example.changes) == [example.result])
    }

    @Test("The group with the most decisions is first, whatever its name")
    func order() throws {
        let refused = Self.line(
            "refused rule_refused", of: "exchangeAppAttestAssertion", on: "projects/1/apps/1:1:ios:a",
            ",\"rule\":\"all\"")
        let answered = Self.line("answered", by: "debug")
        let changes = [
            (Self.demand, "tokens: {accept_development: false}\n        introspection"),
            ("rules: [{name: all, when: {provider: app_attest}, then: refuse}]", "token_ttl: 2h"),
        ]
        let groups = ["answered -> refused token_for_development", "refused rule_refused -> issued"]
        #expect(try Self.found([refused, answered, answered], changes) == groups)
        #expect(try Self.found([refused, answered, refused], changes) == Array(groups.reversed()))
    }

    // MARK: - Backends

    private static let shop = """
        projects:
          - number: 1
            id: example
            consumers:
              custom_backend:
                backends:
                  shop:
                    tokens: {enforcement: UNENFORCED, max_age: 10m}
                    original_request: transport
                    routes:
                      - {path: "/pay/**", methods: [POST], tokens: {limited_use: true}}
                      - {path: /health, tokens: {enforcement: "OFF"}}
                  other: {tokens: {enforcement: UNENFORCED}}
            apps:
              - id: "1:1:ios:a"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers: {app_attest: {}, debug: {managed: {}}}
        """

    /// A request to a backend that let it pass.
    private static func asked(
        _ request: String? = nil, of backend: String = "shop", because reason: String? = nil,
        by provider: String? = nil,
        category: String = "invalid", refused: String? = nil, level: String = "UNENFORCED"
    ) -> String {
        let words = (request ?? "").split(separator: " ")
        var facts = words.count == 2 ? ["\"request_method\":\"\(words[0])\"", "\"request_path\":\"\(words[1])\""] : []
        if provider != nil { facts.append("\"app\":\"1:1:ios:a\"") }
        return "{\"decision\":\"D\",\"method\":\"verifyRequest\",\"resource\":\"projects/1\","
            + (refused.map { "\"outcome\":\"refused\",\"reason\":\"\($0)\"," } ?? "\"outcome\":\"answered\",")
            + (provider.map { "\"provider\":\"\($0)\"," } ?? "") + "\"facts\":{\(facts.joined(separator: ","))},"
            + "\"token_use\":{\"category\":\"\(category)\",\"service\":\"\(backend)\",\"enforcement\":\"\(level)\"}"
            + (reason.map { ",\"unenforced_reason\":\"\($0)\"" } ?? "") + "}"
    }

    private static let enforced = [("{enforcement: UNENFORCED, max_age: 10m}", "{max_age: 10m}")]

    private static let requests = [
        // The question before enforcement: what would be refused, and why.
        Example(enforced, asked("GET /a", because: "token_missing"), "answered -> refused token_missing"),
        Example(enforced, asked("GET /health", because: "token_missing", level: "OFF"), "same"),
        Example(
            enforced, asked("GET /a", because: "token_too_old", by: "app_attest"), "answered -> refused token_too_old"),
        Example(
            enforced, asked("POST /pay/1", because: "token_not_limited_use", by: "app_attest"),
            "answered -> refused token_not_limited_use"),
        // A valid token is valid whatever the level is; and no path is on record, so that a route may count.
        Example(enforced, asked(by: "app_attest", category: "verified"), "same"),
        // Only the other backend.
        Example(enforced, asked("GET /a", of: "other", because: "token_missing"), "same"),
        Example(
            [("other: {tokens: {enforcement: UNENFORCED}}", "other: {tokens: {enforcement: ENFORCED}}")],
            asked("GET /a", of: "other", because: "token_expired"), "answered -> refused token_expired"),
        // Only one route.
        Example(
            [("limited_use: true", "limited_use: true, enforcement: ENFORCED")],
            asked("GET /pay/1", because: "token_missing"), "same"),
        Example(
            [("limited_use: true", "limited_use: true, enforcement: ENFORCED")],
            asked("POST /pay/1", because: "token_missing"), "answered -> refused token_missing"),
        Example(
            [("limited_use: true", "limited_use: true, enforcement: ENFORCED")],
            asked(because: "token_missing"),
            "not judged: the record does not say which part of custom_backend the request was for"),
        // Another route for the same path.
        Example(
            [("- {path: /health, tokens: {enforcement: \"OFF\"}}", "- {path: /a, tokens: {enforcement: ENFORCED}}")],
            asked("GET /a", because: "token_missing"), "answered -> refused token_missing"),
        // Enforced before.
        Example(
            [("limited_use: true}}", "enforcement: ENFORCED}}")],
            asked("POST /pay/1", because: "token_not_limited_use", by: "app_attest"),
            "not judged: when the token was issued is not recorded"),
        // What only the plugin knows.
        Example(
            [("original_request: transport", "original_request: x-original")],
            asked("GET /a", because: "token_missing"),
            "not judged: the record does not say which part of custom_backend the request was for"),
        Example(
            [("other: {tokens: {enforcement: UNENFORCED}}", "other: {success_status: 204}")],
            asked("GET /a", because: "token_missing"), "same"),
        Example(
            [("max_age: 10m", "max_age: 5m"), ("enforcement: UNENFORCED, ", "")],
            asked("GET /a", because: "token_too_old", by: "app_attest"),
            "not judged: when the token was issued is not recorded"),
    ]

    @Test("A request to a backend is judged by the part that it was for", arguments: requests)
    func backend(_ example: Example) throws {
        #expect(try Self.found([example.line], example.changes, in: Self.shop) == [example.result])
    }
}
