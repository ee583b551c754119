import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("The conformance suite of providers")
struct AttestationProviderSuiteTests {
    @Test("A correct provider passes every check, and the report says what was not looked at")
    func correct() async {
        let report = await StatementDevice.suite(StatementProvider<Correct, DescribedSection>.self).report(.quick)
        #expect(report.failures == [])
        #expect(report.isPassed)
        let notApplicable = report.lines.filter { if case .notApplicable = $0.outcome { true } else { false } }
        #expect(notApplicable.map(\.check) == ["replay-in-project", "adversary-other-challenge"])
        #expect(
            report.overlooked
                == [
                    "time", "adversary-wrong-authority", "adversary-untrusted-device", "adversary-downgraded", "memory",
                ])
        #expect(report.markdown.contains("| not looked at: no authority certifies a client |"))
        #expect(report.lines.count >= 42)
        for line in report.lines { #expect(report.markdown.contains("`\(line.check)`")) }
        #expect(report.json["passed"]?.bool == true)
        #expect(report.json["checks"]?.array?.count == report.lines.count)
    }

    @Test("Each wrong provider fails, at the check that is made for it", arguments: WrongProvider.all)
    func wrong(_ provider: WrongProvider) async {
        let report = await provider.suite().report(.quick)
        let failed = report.lines.filter(\.isFailed).map(\.check)
        #expect(failed.contains { $0.isExactly(provider.check) }, "\(report.failures)")
        #expect(report.json["passed"]?.bool == false)
        // What is wrong in one way is not called wrong in all.
        #expect(failed.count <= 6, "\(report.failures)")
    }

    @Test("Correct providers with a challenge, and with evidence for several apps, pass every check")
    func correctOthers() async {
        #expect(await ClaimsDevice.suite(CorrectClaims.self).report(.quick).failures == [])
        let sharing = StatementDevice.sharing(StatementProvider<SharesInProject, DescribedSection>.self)
        let failures = await sharing.report(.quick).failures
        #expect(failures == [])
    }

    @Test("Each provider that takes wrong claims fails, at the check that is made for it", arguments: WrongClaims.all)
    func wrongClaims(_ provider: WrongClaims) async {
        let report = await ConformanceProcess.$isAlone.withValue(provider.check.isExactly("time")) {
            await provider.suite().report(.quick)
        }
        let failed = report.lines.filter(\.isFailed).map(\.check)
        #expect(failed.contains { $0.isExactly(provider.check) }, "\(report.failures)")
        #expect(failed.count <= 6, "\(report.failures)")
    }

    @Test("What an author leaves out is a failure, or what was not looked at, and never silence")
    func leftOut() async {
        var subject = ClaimsDevice.subject
        subject.exchanges[0].adversaries[.expired] = nil
        subject.exchanges[0].adversaries[.future] = .impossible("")
        subject.exchanges[0].variants = [:]
        subject.wrongSections = []
        subject.secrets = SecretSource { _ in [1, 2, 3] }
        let report = await AttestationProviderSuite(ClaimsProvider<CorrectClaims>.self, subject).report(.quick)
        let failed = Set(report.lines.filter(\.isFailed).map { ExactText($0.check) })
        #expect(failed.isSuperset(of: ["adversary-expired", "adversary-future"]), "\(report.failures)")
        func outlook(_ check: String) -> String? {
            report.lines.first { $0.check.isExactly(check) }?.notLookedAt
        }
        #expect(outlook("configuration") == "wrong values: `wrongSections` is empty")
        #expect(outlook("secrecy")?.contains("`secretTexts` is empty") == true)
    }

    @Test("Declared reasons and facts that no call produced are in the report")
    func notProduced() async {
        var subject = StatementDevice.subject
        subject.denials = []
        let report = await AttestationProviderSuite(
            StatementProvider<DeclaresMore, DescribedSection>.self, subject
        ).report(.quick)
        #expect(report.lines.first { $0.check == "reasons" }?.notLookedAt?.contains("statement_never") == true)
        #expect(report.lines.first { $0.check == "facts" }?.notLookedAt?.contains("statement_mood") == true)
        #expect(report.failures.contains { $0.hasPrefix("upstream-no: no response says") }, "\(report.failures)")
    }

    @Test("A provider whose calls never end fails, and the report comes")
    func endless() async {
        let suite = StatementDevice.suite(StatementProvider<NeverEnds, DescribedSection>.self)
        let report = await ConformanceProcess.$isAlone.withValue(true) { await suite.report(.quick) }
        #expect(report.failures.contains { $0.hasPrefix("genuine:") }, "\(report.failures)")
        #expect(report.lines.filter { $0.notLookedAt?.contains("do not end") == true }.count > 20)
    }

    @Test("A broken contract is reported with its cause, also where the kernel no longer calls the provider")
    func cause() async throws {
        let suite = StatementDevice.suite(StatementProvider<RefusesWithAnUnknownReason, DescribedSection>.self)
        let failures = await suite.report(.quick).failures
        let words = "the provider statement refused with an undeclared reason: statement_other"
        #expect(failures.contains { $0.contains("the first fault: \(words)") }, "\(failures)")
        let resting = failures.filter { $0.contains(": UNAVAILABLE") }
        #expect(!resting.isEmpty)
        for text in resting { #expect(text.contains("after the fault: \(words)"), "\(text)") }
    }

    @Test("A provider that uses up its evidence passes, although the kernel does not store its challenges")
    func uses() async {
        #expect(await SerialDevice.suite(UsesEachSerial.self).report(.quick).failures == [])
    }

    @Test("Evidence that is not used up is found at a second server, which does not remember its challenge")
    func secondServer() async {
        let suites = [
            SerialDevice.suite(UsesARandomName.self), SerialDevice.suite(ForgetsTooEarly.self),
            SerialDevice.suite(ForgetsWithTheChallenge.self), SerialDevice.suite(UsesSomeEvidence.self),
        ]
        #expect(suites.count == UseFlaw.allCases.count - 1)
        for (suite, flaw) in zip(suites, UseFlaw.allCases.dropFirst()) {
            let report = await suite.report(.quick)
            // A use that ends before the evidence does is a fault that the kernel sees as well.
            let expected =
                switch flaw {
                case .forgetsTooEarly: ["replay", "contract"]
                case .forgetsWithTheChallenge: ["contract"]
                case .none, .usesARandomName, .usesSomeEvidence: ["replay", "replay-later"]
                }
            // On a slow machine, what forgets early may have forgotten while many ask at once.
            let failed = report.lines.filter(\.isFailed).map(\.check)
                .filter { flaw != .forgetsTooEarly || !$0.isExactly("concurrency") }
            #expect(failed == expected, "\(flaw): \(report.failures)")
        }
    }

    @Test("There is a wrong provider for each flaw")
    func complete() {
        #expect(
            Set(WrongProvider.all.map(\.flaw)).union([.none, .sharesInProject, .declaresMore, .neverEnds])
                == Set(Flaw.allCases))
        #expect(Set(WrongClaims.all.map(\.flaw)).union([.none, .keepsWhatItReads]) == Set(ClaimsFlaw.allCases))
    }
}
