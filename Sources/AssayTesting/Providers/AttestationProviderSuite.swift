internal import AssayCore
internal import AssayEngine
public import AssayHosting
public import AssayKit

/// What every `AttestationProvider` promises, as checks for the author of a provider.
///
///     let suite = AttestationProviderSuite(DoorLockProvider.self, subject)
///     #expect(await suite.report(.quick).failures == [])
///
/// The author says how a genuine device makes evidence (``ProviderSubject``). The suite runs an engine with the provider,
/// derives hostile evidence from genuine one, and looks at what the engine answers, records and logs. The checks, by name:
///
/// | check | rule |
/// |---|---|
/// | `descriptor` | the descriptor says everything that operators rely on |
/// | `genuine` | genuine evidence gets a token, each time |
/// | `missing-fields` | a request without one of its fields gets no token |
/// | `field-types` | a field of another type gets no token, and is no fault |
/// | `truncation` | evidence that was cut off or extended gets no token |
/// | `bit-flips` | evidence with one bit changed gets no token |
/// | `splices` | evidence with a part of another device's gets no token |
/// | `replay` | evidence is good once |
/// | `other-app`, `other-project` | evidence for one app gets no token for another one |
/// | `clock` | evidence and challenges end |
/// | `oversize`, `hostile-text` | what no genuine client sends gets no token, and is no fault |
/// | `dead-upstream`, `slow-upstream`, `lying-upstream`, `huge-upstream` | without the other servers' word nothing is decided |
/// | `lost-store` | without the state store nothing is decided |
/// | `cancellation` | a cancelled call ends, and harms no later one |
/// | `concurrency` | calls at the same time, while policies change, are answered as others |
/// | `equal-verdicts` | equal evidence gets equal verdicts |
/// | `configuration` | errors of the section are refused at their line |
/// | `documentation` | each key and each reason is described |
/// | `secrecy` | no message, record or log line has a secret or evidence |
/// | `contract` | no call broke the contract |
public struct AttestationProviderSuite<Provider: AttestationProvider>: ConformanceSuite {
    let subject: ProviderSubject

    /// Makes the suite of a provider.
    public init(_ type: Provider.Type, _ subject: ProviderSubject) {
        self.subject = subject
    }

    /// `provider`.
    public var kind: PluginKind { .provider }
    /// The provider's name in policies.
    public var name: String { Provider.descriptor.name }

    typealias Check = @Sendable (ConformanceRun) async throws -> Void

    /// Runs all checks.
    public func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        let evidence = ProviderEvidence(self, effort)
        let faults = ProviderFaults(self)
        func with(_ moods: [ConformanceUpstream.Mood]) -> Check {
            { run in try await faults.upstream(run, moods) }
        }
        func moved(to app: TestApp) -> Check {
            { run in try await evidence.moved(run, app) }
        }
        var checks: [(check: String, rule: String, run: Check)] = [
            ("descriptor", "the descriptor says everything that operators rely on", descriptor),
            ("genuine", "genuine evidence gets a token, each time", evidence.genuine),
            ("missing-fields", "a request without one of its fields gets no token", evidence.missingFields),
            ("field-types", "a field of another type gets no token, and is no fault", evidence.fieldTypes),
            ("truncation", "evidence that was cut off or extended gets no token", evidence.truncation),
            ("bit-flips", "evidence with one bit changed gets no token", evidence.bitFlips),
            ("splices", "evidence with a part of another device's gets no token", evidence.splices),
            ("replay", "evidence is good once", evidence.replay),
            ("other-app", "evidence for an app gets no token for another one", moved(to: .second)),
            ("other-project", "evidence for an app gets no token in another project", moved(to: .foreign)),
            ("clock", "evidence and challenges end", evidence.clock),
            ("oversize", "a request beyond the limit is refused, and is no fault", evidence.oversize),
            ("hostile-text", "what no genuine client sends gets no token, and is no fault", evidence.hostileText),
            ("equal-verdicts", "equal evidence gets equal verdicts", evidence.equalVerdicts),
        ]
        checks += [
            ("dead-upstream", "without the other servers nothing is decided", with([.dead])),
            ("slow-upstream", "the time of a call ends, and nothing is decided then", with([.slow])),
            (
                "lying-upstream", "what no genuine server says gets no token",
                with(ConformanceUpstream.lies.map { .lying($0.response) })
            ),
            ("huge-upstream", "an answer without end is no answer", with([.huge])),
            ("lost-store", "without the state store nothing is decided", faults.lostStore),
            ("cancellation", "a cancelled call ends, and harms no later one", faults.cancellation),
            (
                "concurrency", "calls at the same time, while policies change, are answered as others",
                faults.concurrency
            ),
            ("configuration", "errors of the section are refused at their line", configuration),
            ("documentation", "each key and each reason is described", documentation),
        ]
        var lines: [ConformanceReport.Line] = []
        for (check, rule, run) in checks {
            let current = ConformanceRun()
            do {
                try await run(current)
            } catch {
                current.expect(false, "threw \(error)")
            }
            lines.append(ConformanceReport.Line(check, rule, current.outcome))
        }
        lines.append(
            ConformanceReport.Line(
                "secrecy", "no message, record or log line has a secret or evidence",
                Findings.outcome(evidence.findings.leaks + faults.findings.leaks)))
        lines.append(
            ConformanceReport.Line(
                "contract", "no call broke the contract",
                Findings.outcome(evidence.findings.faults + faults.findings.faults)))
        return ConformanceReport(
            .provider, name, version: Provider.descriptor.version, effort: effort, lines: lines)
    }

    /// The policy with the provider's section for each app.
    func policy(_ section: ((TestApp) -> String)? = nil) -> String {
        let section = section ?? { subject.section($0) }
        func app(_ app: TestApp) -> String {
            """
                  - id: \(app.id(platform: subject.platform))
            \(PolicyText.indented(subject.app(app), by: 8))
                    providers:
                      \(name):
            \(PolicyText.indented(section(app), by: 12))
            """
        }
        return """
            # Such keys are made at once.
            tokens: {algorithm: ES256}
            projects:
              - number: \(TestApp.first.projectNumber)
                id: \(TestApp.first.projectID)
                apps:
            \(app(.first))
            \(app(.second))
              - number: \(TestApp.foreign.projectNumber)
                id: \(TestApp.foreign.projectID)
                apps:
            \(app(.foreign))
            """
    }

    func bench(_ policy: String? = nil) throws -> ConformanceBench {
        try ConformanceBench(
            ConformanceBench.Setup(
                plugins: [.provider(Provider.self)], policy: policy ?? self.policy(), secrets: subject.secrets,
                secretTexts: subject.secretTexts, upstream: subject.upstream))
    }

    // MARK: - What needs no evidence

    @Sendable func descriptor(_ run: ConformanceRun) throws {
        ContractText.check(Provider.descriptor, run)
        let exchanges = Provider.methods.map(\.descriptor).filter(\.isExchange)
        run.expect(!exchanges.isEmpty, "the provider has no method that exchanges evidence")
        for exchange in exchanges {
            run.expect(
                subject.exchanges.contains { $0.method.isExactly(exchange.name) },
                "the suite was given no device for the method \(exchange.name)")
        }
        for exchange in subject.exchanges {
            run.expect(
                exchanges.contains { $0.name.isExactly(exchange.method) },
                "the provider has no exchange named \(exchange.method)")
        }
    }

    @Sendable private func configuration(_ run: ConformanceRun) throws {
        do {
            _ = try bench()
        } catch {
            run.expect(false, "the accepted section is refused: \(error)")
        }
        let sections =
            subject.wrongSections + [
                // What no provider knows.
                PolicyText.withUnknownKey(subject.section(.first))
            ]
        for section in sections {
            let policy = policy { $0 == .first ? section : subject.section($0) }
            PolicyText.check(policy, run) { _ = try bench($0) }
        }
    }

    @Sendable private func documentation(_ run: ConformanceRun) {
        ContractText.checkKeys(of: Provider.Configuration.self, run)
        ContractText.checkReasons(Provider.descriptor, run)
    }
}

/// What all checks together found.
final class Findings: Sendable {
    private let benches = SharedList<ConformanceBench>()

    func add(_ bench: ConformanceBench) { benches.append(bench) }

    var leaks: [String] { Findings.unique(benches.all.flatMap(\.leaks)) }
    var faults: [String] { Findings.unique(benches.all.flatMap(\.brokenContracts)) }

    static func outcome(_ findings: [String]) -> ConformanceReport.Outcome {
        let findings = Findings.unique(findings)
        return findings.isEmpty ? .passed(calls: 0) : .failed(Array(findings.prefix(5)))
    }

    private static func unique(_ texts: [String]) -> [String] {
        var seen: Set<ExactText> = []
        return texts.filter { seen.insert(ExactText($0)).inserted }
    }
}
