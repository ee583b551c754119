import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import AssayYAML
import Testing

/// A provider that believes everything, with a fact of each type.
private struct WeatherProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let facts: [Fact]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            var facts: [Fact] = []
            if let text = try fields.optionalString("version") {
                facts.append(Fact(WeatherProvider.version, .text(text)))
            }
            if let text = try fields.optionalString("sky") { facts.append(Fact(WeatherProvider.sky, .text(text))) }
            if let text = try fields.optionalString("town") { facts.append(Fact(WeatherProvider.town, .text(text))) }
            if let number = try fields.optionalString("degrees") {
                facts.append(Fact(WeatherProvider.degrees, .integer(Int64(number) ?? 0)))
            }
            if let age = try fields.duration("age") { facts.append(Fact(WeatherProvider.age, .duration(age))) }
            if let wet = try fields.optionalString("wet") {
                facts.append(Fact(WeatherProvider.wet, .bool(wet == "yes")))
            }
            self.facts = facts
        }
    }

    static let version = FactName("version", .version)
    static let sky = FactName("sky", .words(["clear", "cloudy"]))
    static let town: FactName = "town"
    static let degrees = FactName("degrees", .integer)
    static let age = FactName("age", .duration)
    static let wet = FactName("wet", .bool)

    static let descriptor = PluginDescriptor.provider(
        name: "weather", summary: "Believes everything.", reasons: [],
        facts: [version, sky, town, degrees, age, wet])
    static let methods: [ProviderMethod<WeatherProvider>] = [
        .exchange("exchangeWeather") { (provider, request: Request, context) in
            .verified(Appraisal(facts: request.facts))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("Rules over facts")
struct RuleTests {
    private static func policy(_ rules: String) -> String {
        TestEngine.policy(providers: "weather: {}", app: "rules:\n\(rules)")
    }

    private static func problems(_ rules: String) -> [String] {
        do {
            _ = try TestEngine([.provider(WeatherProvider.self)], policy: policy(rules))
            return []
        } catch let error as Diagnostics {
            return error.all.map { problem in
                [problem.location.map { "\($0.line):\($0.column)" } ?? "", problem.message, problem.hint ?? ""]
                    .filter { !$0.isEmpty }.joined(separator: ": ")
            }
        } catch {
            return ["\(error)"]
        }
    }

    /// Whether a rule with one condition matches facts.
    private func matches(_ condition: String, _ facts: JSON) async throws -> Bool {
        let engine = try TestEngine(
            [.provider(WeatherProvider.self)],
            policy: Self.policy("- {name: one, when: \(condition), then: refuse}"))
        let reply = await engine.call("exchangeWeather", TestEngine.app, facts)
        if case .failure(let failure) = reply.result {
            #expect(failure.reason == KernelReasons.ruleRefused)
            return true
        }
        return false
    }

    @Test(
        "A condition compares by the fact's type",
        arguments: [
            ("{version: {below: \"26.2\"}}", ["version": "26.1.9"], true),
            ("{version: {below: 26.2}}", ["version": "26.2"], false),
            ("{version: {below: 26.10}}", ["version": "26.9"], true),
            ("{version: {at_least: 26.2}}", ["version": "026.02.0"], true),
            ("{version: 26.2}", ["version": "26.2.0.0"], true),
            ("{version: {above: 26.2}}", ["version": "26.2.1"], true),
            ("{version: {above: 26.2}}", ["version": "100"], true),
            ("{version: {at_most: \"0\"}}", ["version": "0.0"], true),
            (
                "{version: {below: \"99999999999999999999999\"}}", ["version": "99999999999999999999998.5"], true
            ),
            ("{version: {not: 26.2}}", ["version": "26.2.0"], false),
            ("{version: {not: 26.2}}", [:], false),
            ("{version: {known: false}}", [:], true),
            ("{version: {known: false}}", ["version": "1"], false),
            ("{version: {known: true, below: 2}}", ["version": "1"], true),
            ("{sky: clear}", ["sky": "clear"], true),
            ("{sky: [clear, cloudy]}", ["sky": "cloudy"], true),
            ("{sky: {not_in: [clear]}}", ["sky": "cloudy"], true),
            ("{sky: {not_in: [clear]}}", [:], false),
            ("{town: \"É\"}", ["town": "E\u{301}"], false),
            ("{town: {in: [a, b]}}", ["town": "b"], true),
            ("{degrees: {at_least: 10, below: 20}}", ["degrees": "10"], true),
            ("{degrees: {at_least: 10, below: 20}}", ["degrees": "20"], false),
            ("{degrees: -3}", ["degrees": "-3"], true),
            ("{age: {above: 1h30m}}", ["age": "5401s"], true),
            ("{age: {above: 1h30m}}", ["age": "5400s"], false),
            ("{wet: true}", ["wet": "yes"], true),
            ("{wet: true}", ["wet": "no"], false),
            ("{wet: false, sky: clear}", ["wet": "no", "sky": "clear"], true),
            ("{wet: false, sky: clear}", ["wet": "no", "sky": "cloudy"], false),
            ("{provider: weather}", [:], true),
            ("{provider: {not: weather}}", [:], false),
            ("{}", [:], true),
        ] as [(String, JSON, Bool)])
    func conditions(_ condition: String, _ facts: JSON, _ expected: Bool) async throws {
        #expect(try await matches(condition, facts) == expected)
    }

    @Test("The first rule that matches decides; a mark is in the record and, if wanted, in the token")
    func order() async throws {
        let meter = CountingMeter()
        let engine = try TestEngine(
            [.provider(WeatherProvider.self)],
            policy: Self.policy(
                """
                - {name: old, when: {version: {below: 2}}, then: refuse}
                - {name: mild, when: {degrees: {above: 15}}, then: mark, claim: true}
                - {name: noted, when: {degrees: {above: 10}}, then: mark}
                - {name: fine, when: {sky: clear}, then: allow}
                - {name: wet, when: {wet: true}, then: refuse}
                """), meter: meter.meter)

        func judge(_ facts: JSON) async throws -> (rule: String?, isIssued: Bool, mark: String?) {
            let reply = await engine.call("exchangeWeather", TestEngine.app, facts)
            let record = try #require(engine.record(of: reply))
            let token = try? reply.result.get()["token"]?.string
            let payload = try token.map { try CompactJWS.parse(utf8: Array($0.utf8)[...]).payload }
            return (
                record.rules.decided?.string, token != nil,
                try payload.flatMap { try JSON.parse($0)["assay_mark"]?.string }
            )
        }

        #expect(try await judge(["version": "1", "degrees": "20"]) == ("old", false, nil))
        #expect(try await judge(["degrees": "20", "wet": "yes"]) == ("mild", true, "mild"))
        #expect(try await judge(["degrees": "11"]) == ("noted", true, nil))
        #expect(try await judge(["sky": "clear", "wet": "yes"]) == ("fine", true, nil))
        #expect(try await judge(["wet": "yes"]) == ("wet", false, nil))
        #expect(try await judge([:]) == (nil, true, nil))
        let app = TestApp.first.id()
        #expect(meter["rule_matches_total", app, "old", "refuse"] == 1)
        #expect(meter["rule_matches_total", app, "mild", "mark"] == 1)
        #expect(meter["rule_matches_total", app, "wet", "refuse"] == 1)
    }

    @Test("A rule that is tried is recorded and counted, decides nothing, and hides no later rule")
    func shadows() async throws {
        let meter = CountingMeter()
        let engine = try TestEngine(
            [.provider(WeatherProvider.self)],
            policy: Self.policy(
                """
                - {name: strict, when: {version: {below: 3}}, then: refuse, enforcement: shadow}
                - {name: stricter, when: {version: {below: 4}}, then: refuse, enforcement: shadow}
                - {name: seen, when: {version: {below: 3}}, then: mark, enforcement: shadow}
                - {name: old, when: {version: {below: 2}}, then: refuse, enforcement: enforced}
                - {name: later, then: refuse, enforcement: shadow}
                """), meter: meter.meter)
        let issued = await engine.call("exchangeWeather", TestEngine.app, ["version": "2"])
        #expect(throws: Never.self) { try issued.result.get() }
        let record = try #require(engine.record(of: issued))
        #expect(record.rules.decided == nil)
        #expect(record.rules.wouldRefuse.map(\.string) == ["strict", "stricter", "later"])
        let refused = await engine.call("exchangeWeather", TestEngine.app, ["version": "1"])
        #expect(throws: CallFailure.self) { try refused.result.get() }
        let second = try #require(engine.record(of: refused))
        #expect(second.rules.decided?.string == "old")
        #expect(second.rules.wouldRefuse.map(\.string) == ["strict", "stricter"])
        #expect(meter["rule_matches_total", TestApp.first.id(), "strict", "shadow_refuse"] == 2)
        #expect(meter["rule_matches_total", TestApp.first.id(), "seen", "shadow_mark"] == 2)
    }

    @Test(
        "A comparison that makes no sense is an error at its column",
        arguments: [
            (
                "{name: a, when: {sky: {below: clear}}, then: refuse}",
                ["8:41: `below` needs an order, and `sky` is one of `clear`, `cloudy`"]
            ),
            (
                "{name: a, when: {sky: cler}, then: refuse}",
                ["8:33: `sky` is one of `clear`, `cloudy`: did you mean `clear`?"]
            ),
            (
                "{name: a, when: {skies: clear}, then: refuse}",
                [
                    "8:28: no provider of the app tells the fact `skies`: known here: `age`, `degrees`, `provider`, `sky`, `town`, `version`, `wet`"
                ]
            ),
            ("{name: a, when: {version: x.y}, then: refuse}", ["8:37: `version` is a version such as 26.2"]),
            ("{name: a, when: {degrees: warm}, then: refuse}", ["8:37: expected a whole number, found `warm`"]),
            (
                "{name: a, when: {age: {above: 5}}, then: refuse}",
                ["8:41: expected a duration such as 1h, found `5`: add a unit, such as 5s"]
            ),
            ("{name: a, when: {wet: {is: maybe}}, then: refuse}", ["8:38: expected true or false, found `maybe`"]),
            (
                "{name: a, when: {wet: {above: true}}, then: refuse}",
                ["8:41: `above` needs an order, and `wet` is true or false"]
            ),
            (
                "{name: a, when: {degrees: {belov: 1}}, then: refuse}",
                ["8:38: unknown key `belov`: did you mean `below`?"]
            ),
            ("{name: a, when: {degrees: {}}, then: refuse}", ["8:37: expected a comparison such as {below: 5}"]),
            (
                "{name: a, when: {degrees: null}, then: refuse}",
                ["8:37: expected a value, or a comparison such as {below: 5}"]
            ),
            ("{name: a, when: {degrees: []}, then: refuse}", ["8:37: expected at least one value"]),
            (
                "{name: a, when: {provider: wether}, then: refuse}",
                ["8:38: `provider` is one of `weather`: did you mean `weather`?"]
            ),
            ("{name: a, then: deny}", ["8:27: expected one of `allow`, `refuse`, `mark`, found `deny`"]),
            (
                "{name: a, then: refuze}",
                ["8:27: expected one of `allow`, `refuse`, `mark`, found `refuze`: did you mean `refuse`?"]
            ),
            ("{name: a b, then: refuse}", ["8:18: a rule's name is 1 to 64 letters, digits, `-`, `.`, `_` and `@`"]),
            ("{then: refuse}", ["8:11: missing key `name`"]),
            (
                "{name: a, then: allow, claim: true}",
                ["8:34: has no effect with `allow`: only a mark is named in tokens"]
            ),
            (
                "{name: a, then: allow, enforcement: shadw}",
                ["8:47: expected one of `enforced`, `shadow`, found `shadw`: did you mean `shadow`?"]
            ),
            ("{name: a, then: allow, wen: {}}", ["8:34: unknown key `wen`: did you mean `when`?"]),
            ("refuse", ["8:11: expected a mapping, found `refuse`"]),
        ])
    func wrong(_ rule: String, _ expected: [String]) {
        #expect(Self.problems("- \(rule)") == expected)
    }

    @Test("A rule that is defined twice is shown at both places, and one behind a rule for all evidence is warned of")
    func twice() throws {
        #expect(
            Self.problems("- {name: a, then: mark}\n- {name: a, then: allow}") == [
                "9:11: the rule `a` is defined twice"
            ])
        let policies = PolicySet.read([
            PolicyFile(name: "a.yaml", text: Self.policy("- {name: a, then: allow}\n- {name: b, then: refuse}"))
        ])
        #expect(policies.warnings?.all.map(\.message) == ["no evidence comes to this rule: `a` before it matches all"])
    }
}
