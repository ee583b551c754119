public import AssayCore
internal import AssayCrypto
public import AssayEngine
internal import AssayKit
public import AssayPolicy
public import AssayYAML

/// Tests of policies, as operators write them beside their policies in files `*_test.yaml`.
///
///     let directory = PolicyDirectory("policies")
///     let tests = try PolicyTests(directory.testFiles(), of: directory.load(), registry: registry, simulators: [])
///     let report = try await tests.run()
///
/// No test needs a secret of the policies, and none changes anything but memory.
public struct PolicyTests: Sendable {
    private let tested: TestedPolicies
    private let cases: [PolicyCase]
    private let now: Instant

    /// Reads tests, for policies that are read and checked as far as that needs no secrets.
    ///
    /// - Parameters:
    ///   - simulators: what makes evidence for tests with `device`; those of other providers do not run.
    ///   - now: the time of tests that name none.
    /// - Throws: everything that is wrong with the policies; if nothing is, everything that is wrong with the tests.
    public init(
        _ files: [PolicyFile], of policies: PolicySet, registry: Registry, simulators: [any EvidenceSimulator],
        now: Instant = HostClock.system.now
    ) throws(Diagnostics) {
        tested = try TestedPolicies(policies, registry: registry)
        self.now = now
        let sink = DiagnosticSink()
        var reader = CaseReader(tested, simulators: simulators, problems: sink)
        for file in files where !sink.isOverfull { reader.read(file) }
        try sink.throwIfAny()
        cases = reader.cases
    }

    /// How many tests there are.
    public var count: Int { cases.count }

    /// Whether a test has a device.
    public var usesDevices: Bool {
        cases.contains { if case .device = $0.question { true } else { false } }
    }

    /// Whether a file has a test with `device`, for which simulators are needed.
    ///
    /// It looks at the bytes only, and may be wrong about a file without one.
    public static func needSimulators(_ files: [PolicyFile]) -> Bool {
        files.contains { $0.bytes.contains(Array("device".utf8)) }
    }

    /// Runs the tests one after the other.
    ///
    /// - Parameters:
    ///   - filter: a part of the names of the tests that run; nil for all.
    ///   - findsDecisiveSettings: whether tests with `device` that passed run again without each of the provider's settings,
    ///     to find out which of them matter.
    /// - Throws: `CryptoError` when no key can be made.
    public func run(
        filter: String? = nil, findsDecisiveSettings: Bool = false
    ) async throws -> PolicyTestReport {
        var results: [PolicyTestResult] = []
        var coverage = CoverageLog(tested)
        let judge = try RuleJudge(
            now: now,
            denials: DenyList(
                tested.policies.denials, facts: tested.registry.providers.mapValues(\.descriptor.facts), isWhole: false,
                problems: DiagnosticSink()))
        let trials = DeviceTrials(tested: tested, now: now)
        var requests: RequestTrials?
        for test in cases where filter.map({ test.name.utf8.contains($0.utf8) }) ?? true {
            let result: PolicyTestResult
            switch test.question {
            case .permission(let question):
                result = test.result(question.finding)
            case .request(let order):
                if requests == nil { requests = try await RequestTrials(tested, now: now) }
                let run = await requests?.run(order)
                if case .finding(let finding, _)? = run {
                    result = test.result(finding)
                } else {
                    result = PolicyTestResult(test, .notRun(run?.reason ?? ""), nil)
                }
            case .facts(let subject, let facts):
                let finding = try judge.finding(subject, facts)
                coverage.add(subject, finding.asksRules ? facts : nil)
                result = test.result(finding, looks: subject.looks(at: facts))
            case .decision(let subject, let decided):
                let finding = try judge.finding(subject, decided)
                coverage.add(subject, finding.asksRules ? decided.facts : nil)
                result = test.result(finding, looks: subject.looks(at: decided.facts))
            case .device(let subject, let order):
                let run = await trials.run(subject, order)
                if case .finding(let finding, let facts) = run {
                    coverage.add(subject, facts)
                    result = test.result(finding, looks: facts.map { subject.looks(at: $0) } ?? [])
                    if findsDecisiveSettings {
                        coverage.add(subject, decisive: await trials.decisiveSettings(subject, order, finding))
                    }
                } else {
                    result = PolicyTestResult(test, .notRun(run.reason), nil)
                }
            }
            results.append(result)
        }
        return PolicyTestReport(results: results, coverage: coverage.coverage)
    }
}

extension Subject {
    fileprivate func looks(at facts: [Fact]) -> [RuleLook] { rules.looks(at: facts, provider: provider.name) }
}

extension PermissionQuestion {
    /// What the kernel's gate says.
    fileprivate var finding: PolicyFinding {
        var finding = PolicyFinding(permission: .denied)
        if let refusal = caller.refusal(needing: permission) ?? caller.refusal(in: project) {
            finding.detail = refusal.detail
        } else {
            finding.permission = .allowed
            finding.detail = "the caller \(caller.name) has the permission \(permission.name)"
        }
        return finding
    }
}
