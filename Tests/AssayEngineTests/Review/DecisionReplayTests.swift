import AssayAppAttest
import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayYAML
import Testing

@Suite("Recorded decisions under other policies")
struct DecisionReplayTests {
    private static let base = """
        callers:
          minter: {sha256: "\(String(repeating: "0f", count: 32))", permissions: [tokens.mint], projects: [example]}
        projects:
          - number: 1
            id: example
            services:
              strict.example.com: {enforcement: ENFORCED}
              lax.example.com: {enforcement: UNENFORCED}
              edited.example.com: {enforcement: ENFORCED, editable: true}
            apps:
              - id: "1:1:ios:a"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                rate_limit: {requests: 60}
                providers: {app_attest: {}, debug: {managed: {limit: 20}}}
                rules:
                  - {name: old-ios, when: {os_version: {below: "26.2"}}, then: refuse}
                  - {name: old-key, when: {key_age: {above: 60s}}, then: refuse, enforcement: shadow}
                  - {name: risky, when: {risk_metric: {above: 5}}, then: mark}
          - {number: 2, id: other, apps: [{id: "1:2:ios:b", providers: {debug: {managed: {}}}}]}
        """

    private static let app = "projects/1/apps/1:1:ios:a"
    private static let service = "projects/1/services/"

    private static func read(_ text: String) throws -> (policies: PolicySet, registry: Registry) {
        let registry = try Registry([.provider(AppAttestProvider.self), .provider(DebugProvider.self)])
        let policies = registry.effective(PolicySet.read([PolicyFile(name: "a.yaml", text: text)]))
        #expect(policies.problems?.description == nil)
        return (policies, registry)
    }

    private static func replay(_ new: String, _ lines: [String]) throws -> ReplayReport {
        var replay = try DecisionReplay(from: try read(base), to: try read(new))
        for (index, line) in lines.enumerated() { replay.read(Array(line.utf8)[...], at: "a:\(index + 1)") }
        return replay.result
    }

    private static func line(
        _ outcome: String, of method: String = "exchangeAppAttestAssertion", on resource: String = app,
        provider: String? = "app_attest", _ rest: String = ""
    ) -> String {
        let words = outcome.split(separator: " ").map(String.init)
        let cause = words.count == 1 ? "" : ",\"\(words[0] == "refused" ? "reason" : "status")\":\"\(words[1])\""
        let provider = provider.map { ",\"provider\":\"\($0)\"" } ?? ""
        return
            "{\"decision\":\"D\",\"method\":\"\(method)\",\"resource\":\"\(resource)\",\"outcome\":\"\(words[0])\"\(cause)\(provider)\(rest)}"
    }

    private static func facts(_ facts: String) -> String { ",\"facts\":{\(facts)}" }

    private static func use(_ category: String, _ level: String) -> String {
        ",\"token_use\":{\"category\":\"\(category)\",\"admitted\":true,\"app\":\"1:1:ios:a\",\"enforcement\":\"\(level)\"}"
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let part: String
        let with: String
        let line: String
        let result: String

        var testDescription: String { "\(part) -> \(with): \(line)" }

        init(_ part: String, _ with: String, _ line: String, _ result: String) {
            (self.part, self.with, self.line, self.result) = (part, with, line, result)
        }
    }

    private static let noApp = ("      - id: \"1:1:ios:a\"", "      - id: \"1:1:ios:z\"")
    /// Rules over facts that no provider tells are refused.
    private static let noAppAttest: (String, String) = {
        let tail = base[(base.firstRange(of: "app_attest: {}, debug")?.lowerBound ?? base.startIndex)...]
        let end = tail.firstRange(of: "then: mark}\n")?.upperBound ?? tail.endIndex
        return (String(tail[..<end]), "debug: {managed: {limit: 20}}}\n")
    }()
    /// A change that concerns the app and decides nothing.
    private static let near = ("requests: 60", "requests: 61")
    private static let enforced = (", enforcement: shadow", "")
    private static let otherSettings = ("app_attest: {}", "app_attest: {receipts: required}")

    /// An entry of the deny list, and evidence that it refuses.
    private static let denial = ("callers:", "deny: [{key_id: \"\(key)\"}]\ncallers:")
    private static let key = String(repeating: "ab", count: 32)
    private static let deniedFacts = facts("\"key_id\":\"\(key)\"")
    private static let ofServer =
        "not judged: the server's own deny list refused the evidence, and it is not in the policy files"

    private static let examples: [Example] = [
        // The deny lists of the policies and of the server.
        Example(
            near.0, near.1, line("refused evidence_denied", deniedFacts + ",\"deny_list\":\"server\""),
            ofServer),
        Example(near.0, near.1, line("refused evidence_denied", deniedFacts), ofServer),
        Example(
            "- {name: risky, when: {risk_metric: {above: 5}}, then: mark}", "- {name: all, then: refuse}",
            line("refused evidence_denied", deniedFacts + ",\"deny_list\":\"server\""), ofServer),
        Example(
            noApp.0, noApp.1, line("refused evidence_denied", deniedFacts + ",\"deny_list\":\"server\""),
            "refused evidence_denied -> rejected NOT_FOUND"),
        Example(
            denial.0, denial.1, line("refused evidence_denied", deniedFacts + ",\"deny_list\":\"server\""), "same"),
        Example(
            "number: 2", "number: 3", line("refused evidence_denied", deniedFacts + ",\"deny_list\":\"policies\""),
            "other"),
        Example(
            denial.0, denial.1, line("issued", deniedFacts), "issued -> refused evidence_denied"),
        // Apps and providers.
        Example(noApp.0, noApp.1, line("issued"), "issued -> rejected NOT_FOUND"),
        Example(noApp.0, noApp.1, line("refused nonce_mismatch"), "refused nonce_mismatch -> rejected NOT_FOUND"),
        Example(
            noApp.0, noApp.1, line("challenged", of: "generateAppAttestChallenge"), "challenged -> rejected NOT_FOUND"),
        Example(noAppAttest.0, noAppAttest.1, line("issued"), "issued -> rejected FAILED_PRECONDITION"),
        Example(", debug: {managed: {limit: 20}}", "", line("issued"), "same"),
        // What is in shadow decides nothing.
        Example("app_attest: {}", "app_attest: {shadow: {receipts: required}}", line("issued"), "same"),
        Example("app_attest: {}", "app_attest: {shadow: {receipts: required}}", line("refused nonce_mismatch"), "same"),
        Example(
            "app_attest: {}, debug: {managed: {limit: 20}}", "app_attest: {}",
            line("rejected NOT_FOUND", of: "exchangeDebugToken", on: "projects/1/apps/1:1:ios:q", provider: nil), "same"
        ),
        Example(
            noApp.0, noApp.1, line("rejected NOT_FOUND", on: "projects/1/apps/1:1:ios:z"),
            "rejected NOT_FOUND -> passes this check"),
        Example(
            noApp.0, noApp.1, line("rejected INVALID_ARGUMENT", on: "projects/1/apps/x"), "same"),
        Example(
            "number: 2", "number: 3", line("error UNAVAILABLE"),
            "not judged: no decision was made: a fault or an overload"),
        Example(
            near.0, near.1, line("issued", of: "somethingElse"), "not judged: the program has no such method"),
        // What the old policies would not have done.
        Example("number: 2", "number: 3", line("issued", on: "projects/1/apps/1:1:ios:q"), "other"),
        Example("number: 2", "number: 3", line("rejected NOT_FOUND"), "other"),
        Example("number: 2", "number: 3", line("rejected FAILED_PRECONDITION"), "other"),
        Example("number: 2", "number: 3", line("issued", facts("\"os_version\":\"26.1\"")), "other"),
        Example("number: 2", "number: 3", line("refused rule_refused", facts("\"os_version\":\"26.2\"")), "other"),
        Example("number: 2", "number: 3", line("issued", facts("\"risk_metric\":6")), "other"),
        // Rules over the recorded facts.
        Example("number: 2", "number: 3", line("issued", facts("\"risk_metric\":6") + ",\"rule\":\"risky\""), "same"),
        Example(
            enforced.0, enforced.1, line("issued", facts("\"key_age\":\"61s\"") + ",\"would_refuse\":[\"old-key\"]"),
            "issued -> refused rule_refused (old-key)"),
        Example(enforced.0, enforced.1, line("issued", facts("\"key_age\":\"60s\"")), "same"),
        Example(enforced.0, enforced.1, line("issued"), "same"),
        Example(
            "\"26.2\"", "\"26.10\"", line("issued", facts("\"os_version\":\"26.9\",\"environment\":\"production\"")),
            "issued -> refused rule_refused (old-ios)"),
        Example("\"26.2\"", "\"26.10\"", line("issued", facts("\"os_version\":\"26.10.0\"")), "same"),
        Example(
            "\"26.2\"", "\"26\"",
            line("refused rule_refused", facts("\"os_version\":\"26.1\"") + ",\"rule\":\"old-ios\""),
            "refused rule_refused -> issued (old-ios)"),
        Example(
            "above: 5", "above: 4",
            line("issued", facts("\"risk_metric\":5")), "same"),
        Example(
            "then: mark", "then: refuse", line("issued", facts("\"risk_metric\":6") + ",\"rule\":\"risky\""),
            "issued -> refused rule_refused (risky)"),
        Example(
            "os_version: {below: \"26.2\"}", "debug_token: x",
            line("issued", of: "exchangeDebugToken", provider: "debug", facts("\"debug_token\":\"x\"")),
            "issued -> refused rule_refused (old-ios)"),
        Example(
            near.0, near.1,
            line("issued", facts("\"receipt\":\"\(String(repeating: "x", count: 160))...\"")),
            "not judged: a fact is cut in the record"),
        // What only evidence can tell.
        Example(
            otherSettings.0, otherSettings.1, line("refused nonce_mismatch"),
            "not judged: settings of the plugin differ, and evidence and tokens are not recorded"),
        Example("number: 2", "number: 3", line("refused nonce_mismatch"), "same"),
        Example(
            "apps:\n      - id: \"1:1:ios:a\"", "apps:\n      - token_ttl: 2h\n        id: \"1:1:ios:a\"",
            line("refused nonce_mismatch"), "same"),
        Example(
            otherSettings.0, otherSettings.1, line("refused rate_limited"),
            "not judged: settings of the plugin differ, and evidence and tokens are not recorded"),
        Example("requests: 60", "requests: 61", line("refused rate_limited"), "not judged: the rate limit differs"),
        Example("number: 2", "number: 3", line("refused rate_limited"), "same"),
        // Callers.
        Example(
            "minter:", "other:", line("issued", of: "mintAppCheckToken", provider: "mint", ",\"caller\":\"minter\""),
            "issued -> rejected UNAUTHENTICATED"),
        Example(
            "[tokens.mint]", "[appCheckTokens.verify]",
            line("issued", of: "mintAppCheckToken", provider: "mint", ",\"caller\":\"minter\""),
            "issued -> rejected PERMISSION_DENIED"),
        Example(
            "projects: [example]", "projects: [other]",
            line("issued", of: "mintAppCheckToken", provider: "mint", ",\"caller\":\"minter\""),
            "issued -> rejected PERMISSION_DENIED"),
        Example(
            "projects: [example]", "projects: [example, other]",
            line(
                "rejected PERMISSION_DENIED", of: "mintAppCheckToken", on: "projects/2/apps/1:2:ios:b", provider: nil,
                ",\"caller\":\"minter\""),
            "rejected PERMISSION_DENIED -> passes this check"),
        Example(
            "[tokens.mint]", "[admin]",
            line(
                "rejected PERMISSION_DENIED", of: "verifyAppCheckToken", on: "projects/1", provider: nil,
                ",\"caller\":\"minter\""),
            "rejected PERMISSION_DENIED -> passes this check"),
        Example(
            "[tokens.mint]", "[admin]",
            line("rejected UNAUTHENTICATED", of: "mintAppCheckToken", provider: nil),
            "not judged: credentials are not recorded"),
        Example(
            "number: 2", "number: 3",
            line("rejected UNAUTHENTICATED", of: "mintAppCheckToken", provider: nil), "same"),
        // Services.
        Example(
            "strict.example.com: {enforcement: ENFORCED}", "strict.example.com: {enforcement: UNENFORCED}",
            line(
                "refused token_missing", of: "protect", on: service + "strict.example.com", provider: nil,
                use("unknown_origin", "ENFORCED")),
            "refused token_missing -> answered"),
        Example(
            "{enforcement: UNENFORCED}", "{enforcement: ENFORCED}",
            line(
                "answered", of: "protect", on: service + "lax.example.com", provider: nil,
                use("unknown_origin", "UNENFORCED") + ",\"unenforced_reason\":\"token_missing\""),
            "answered -> refused token_missing"),
        Example(
            "{enforcement: UNENFORCED}", "{enforcement: ENFORCED}",
            line("answered", of: "protect", on: service + "lax.example.com", use("verified", "UNENFORCED")), "same"),
        Example(
            noAppAttest.0, noAppAttest.1,
            line("answered", of: "protect", on: service + "strict.example.com", use("verified", "ENFORCED")),
            "answered -> refused token_provider_not_allowed"),
        Example(
            noApp.0, noApp.1,
            line("answered", of: "protect", on: service + "strict.example.com", use("verified", "ENFORCED")),
            "answered -> refused token_app_unknown"),
        Example(
            "strict.example.com: {enforcement: ENFORCED}",
            "strict.example.com: {enforcement: ENFORCED, replay_protection: ENFORCED}",
            line("answered", of: "protect", on: service + "strict.example.com", use("reused", "ENFORCED")),
            "answered -> refused token_reused"),
        Example(
            "strict.example.com: {enforcement: ENFORCED}",
            "strict.example.com: {enforcement: ENFORCED, accept_development: true}",
            line(
                "refused token_for_development", of: "protect", on: service + "strict.example.com", provider: "debug",
                use("invalid", "ENFORCED")),
            "not judged: the token was not judged further"),
        Example(
            "      edited.example.com: {enforcement: ENFORCED, editable: true}\n", "",
            line("answered", of: "protect", on: service + "edited.example.com", use("verified", "ENFORCED")),
            "answered -> rejected INVALID_ARGUMENT"),
        Example(
            near.0, near.1,
            line("answered", of: "protect", on: service + "edited.example.com", use("verified", "ENFORCED")),
            "not judged: administrators can change the level of the service"),
        Example(
            "number: 2", "number: 3",
            line("answered", of: "protect", on: service + "lax.example.com", use("verified", "ENFORCED")), "other"),
    ]

    @Test("Each decision is judged by what is on record", arguments: examples)
    func judged(_ example: Example) throws {
        #expect(Self.base.contains(example.part))
        let report = try Self.replay(
            Self.base.replacing(example.part, with: example.with, maxReplacements: 1), [example.line])
        let changed = report.changed.map {
            "\($0.group.old) -> \($0.group.new)\($0.group.rule.map { " (\($0))" } ?? "")"
        }
        let others = report.notJudged.map { "not judged: \($0.key)" }
        let found =
            changed + others + (report.same == 1 ? ["same"] : []) + (report.otherPolicies == 1 ? ["other"] : [])
            + (report.malformed == 1 ? ["malformed"] : [])
        #expect(found == [example.result])
        #expect(report.decisions == 1 && report.changedCount == changed.count)
    }

    @Test("Decisions are counted by what changes, the most first, with five examples")
    func counts() throws {
        let new = Self.base.replacing(Self.enforced.0, with: "").replacing(
            "debug: {managed: {limit: 20}}", with: "debug2: {}"
        )
        .replacing(", debug2: {}", with: "")
        func numbered(_ number: Int, _ line: String) -> String { line.replacing("\"D\"", with: "\"D\(number)\"") }
        let old = (1...7).map { numbered($0, Self.line("issued", Self.facts("\"key_age\":\"\(60 + $0)s\""))) }
        let debug = (8...9).map { numbered($0, Self.line("issued", of: "exchangeDebugToken", provider: "debug")) }
        let report = try Self.replay(
            new, debug + old + [Self.line("issued"), Self.line("issued", on: "projects/9/apps/1:9:ios:q")])
        #expect(
            report.text == [
                "\(Self.app) exchangeAppAttestAssertion: issued -> refused rule_refused (rule old-key): 7, such as D1, D2, D3, D4, D5",
                "\(Self.app) exchangeDebugToken: issued -> rejected FAILED_PRECONDITION: 2, such as D8, D9",
                "11 recorded decisions: 1 the same, 9 different",
                "1 was recorded under other policies than the old ones",
            ])
        #expect(report.json.last?["decisions"]?["different"] == 9)
        #expect(report.json.count == 3)
    }

    @Test(
        "A line that is no record is counted, with the place of the first one",
        arguments: [
            "", "{", "[]", "{}", "null", "{\"decision\":\"D\"}", "{\"outcome\":\"summed\"}", "{\"outcome\":\"issued\"}",
            "{\"decision\":1,\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\"}",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\"} x",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\"",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\",}",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\",\"facts\":{\"a\":[}]}",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\",\"x\":maybe}",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"issued\\",
            "{\"decision\":\"D\",\"method\":\"m\",\"resource\":\"r\",\"outcome\":\"iss\nued\"}",
        ])
    func malformed(_ line: String) throws {
        let report = try Self.replay(Self.base, [Self.line("issued"), line, line])
        #expect(report.malformed == 2 && report.firstMalformed == "a:2" && report.decisions == 1 && report.lines == 3)
    }

    @Test("Sums and changes of the service are passed over; spaces, escapes and other members do not matter")
    func forms() throws {
        let report = try Self.replay(
            Self.base,
            [
                #"{"time":"x","event":"deny_added","details":{"outcome":"issued"}}"#,
                #"{"time":"x","outcome":"summed","since":"y","count":41,"groups":[{"method":"m","outcome":"issued","count":41}]}"#,
                #" { "decision" : "D" , "x":[{"a":"}]"},[]], "n":-1.5e3,"t":true,"method":"exchangeAppAttest\u0041ssertion","resource":"projects\/1/apps/1:1:ios:a","outcome":"issued","provider":"app_attest" } "#,
            ])
        #expect(report.events == 1 && report.sums == 1 && report.summed == 41)
        #expect(report.decisions == 1 && report.same == 1 && report.malformed == 0)
    }
}
