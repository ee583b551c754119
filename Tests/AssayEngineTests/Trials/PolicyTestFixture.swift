import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayYAML

/// A provider that believes reports about the weather, unless they are forged or too cold.
struct StationProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        /// Colder reports are refused.
        let coldest: Int?
        let key: SecretReference?
    }

    struct Request: RequestMessage {
        let fields: RequestFields

        init(_ fields: RequestFields) throws(InvalidRequest) {
            self.fields = fields
        }
    }

    static let version = FactName("version", .version)
    static let sky = FactName("sky", .words(["clear", "cloudy"]))
    static let degrees = FactName("degrees", .integer)
    static let age = FactName("age", .duration)
    static let since = FactName("since", .instant)
    static let wet = FactName("wet", .bool)
    static let town: FactName = "town"
    static let forged = Reason("report_forged", "The report is forged.")
    static let cold = Reason("report_cold", "The report is too cold.")

    static let descriptor = PluginDescriptor.provider(
        name: "station", summary: "Believes reports about the weather.", reasons: [forged, cold],
        facts: [version, sky, degrees, age, since, wet, town])
    static let methods: [ProviderMethod<StationProvider>] = [
        .exchange("exchangeReport") { (provider, request: Request, context) in try provider.appraise(request.fields) },
        .call("listReports", MethodPath(.get, "/reports"), permission: Permission("reports.list"), reply: []) {
            (_, _: Request, _) in CallAnswer([:])
        },
    ]

    private let coldest: Int

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        coldest = configuration.coldest ?? -1000
        guard let key = configuration.key else { return }
        let found: [UInt8]?
        do throws(SecretError) {
            found = try host.secrets.resolve(key)
        } catch {
            throw ConfigurationError(at: ["key"], error.message)
        }
        guard found != nil else { throw ConfigurationError(at: ["key"], "is not set") }
    }

    private func appraise(_ fields: RequestFields) throws -> Verdict {
        if try fields.bool("forged") { return .refused(Self.forged, detail: "the seal is broken") }
        var facts: [Fact] = []
        if let text = try fields.optionalString("version") { facts.append(Fact(Self.version, .text(text))) }
        if let text = try fields.optionalString("sky") { facts.append(Fact(Self.sky, .text(text))) }
        if let text = try fields.optionalString("degrees"), let degrees = Int64(text) {
            facts.append(Fact(Self.degrees, .integer(degrees)))
            if degrees < coldest { return .refused(Self.cold, facts: facts) }
        }
        return .verified(Appraisal(facts: facts))
    }
}

/// Makes reports for tests.
struct StationSimulator: EvidenceSimulator {
    let provider = "station"
    let methods = ["exchangeReport"]
    let properties = [
        EvidenceProperty(StationProvider.version, "The version."), EvidenceProperty(StationProvider.sky, "The sky."),
        EvidenceProperty(StationProvider.degrees, "The temperature."),
    ]
    let changes = [EvidenceChange("report", ["forged", "twice"], "The report.")]
    /// Whether it knows the secret of the policies.
    var hasSecret = true

    func begin(_ order: EvidenceOrder) -> EvidenceSession {
        EvidenceSession(
            secrets: SecretSource { [hasSecret] _ in hasSecret ? [1] : nil }, start: order.now
        ) { calls in
            var members: [JSONMember] = []
            for name in ["version", "sky"] {
                if let text = order.text(name) { members.append(JSONMember(name, .string(text))) }
            }
            if let degrees = order.integer("degrees") {
                members.append(JSONMember("degrees", .string("\(degrees)")))
            }
            if order.changes("report", "forged") { members.append(JSONMember("forged", true)) }
            let body = JSON.object(members)
            if order.changes("report", "twice") { _ = try await calls.call("exchangeReport", body) }
            return body
        }
    }
}

/// Policies with an app, and tests of them.
enum PolicyTestFixture {
    static let app = "1:1:ios:a"

    static let policy = """
        callers:
          deployer: {token: "env:NOBODY_SETS_THIS", permissions: [appCheckTokens.verify], projects: [example]}
          minter: {token: "env:NOBODY_SETS_THIS_EITHER", permissions: [tokens.mint], projects: [example]}
        projects:
          - number: 1
            id: example
            apps:
              - id: 1:1:ios:a
                providers: {station: {coldest: -5, token_ttl: 2h, key: "env:NOBODY_SETS_THIS"}}
                rules:
                  - {name: trial, when: {degrees: {above: 30}}, then: refuse, enforcement: shadow}
                  - {name: old, when: {version: {below: "2.0"}, sky: clear}, then: refuse}
                  - {name: new, when: {age: {below: 1h}}, then: mark, claim: true}
                  - {name: rest, then: allow}
          - number: 2
            id: other
            apps: [{id: "1:2:ios:b", providers: {station: {}}}]
        """

    static func tests(
        _ text: String, of policy: String = policy, simulator: StationSimulator? = StationSimulator(),
        file: String = "a_test.yaml"
    ) throws -> PolicyTests {
        try PolicyTests(
            [PolicyFile(name: file, text: text)], of: .read([PolicyFile(name: "a.yaml", text: policy)]),
            registry: Registry([.provider(StationProvider.self)]), simulators: simulator.map { [$0] } ?? [],
            now: Instant(seconds: 1_795_262_400))
    }

    /// The results of tests, by their names.
    static func run(
        _ text: String, of policy: String = policy, simulator: StationSimulator? = StationSimulator()
    ) async throws -> [PolicyTestResult] {
        try await tests(text, of: policy, simulator: simulator).run().results
    }

    /// What is wrong with tests: `line:column: path: message`, and the hint behind a slash.
    static func problems(_ text: String, of policy: String = policy) throws -> [String] {
        do {
            _ = try tests(text, of: policy)
            return []
        } catch let problems as Diagnostics {
            return problems.all.map { problem in
                let place = problem.location.map { "\($0.line):\($0.column): " } ?? ""
                return "\(place)\(problem.path): \(problem.message)\(problem.hint.map { " / \($0)" } ?? "")"
            }
        }
    }
}

extension PolicyTestResult {
    /// The outcome in one text: `passed`, what failed, or why it did not run.
    var words: String {
        switch outcome {
        case .passed: "passed"
        case .failed(let problems):
            problems.map { problem in
                "\(problem.location.map { "\($0.line):\($0.column)" } ?? "") \(problem.message)"
                    + (problem.hint.map { " / \($0)" } ?? "")
            }.joined(separator: "; ")
        case .notRun(let reason): "not run: \(reason)"
        }
    }
}
