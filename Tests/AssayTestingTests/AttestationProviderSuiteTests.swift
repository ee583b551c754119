import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("The conformance suite of providers")
struct AttestationProviderSuiteTests {
    @Test("A correct provider passes every check, of which none is left out")
    func correct() async {
        let report = await StatementDevice.suite(StatementProvider<Correct, DescribedSection>.self).report(.quick)
        #expect(report.failures == [])
        #expect(report.isPassed)
        #expect(!report.markdown.contains("not applicable"))
        #expect(report.lines.count >= 24)
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
                case .none, .usesARandomName, .usesSomeEvidence: ["replay"]
                }
            #expect(report.lines.filter(\.isFailed).map(\.check) == expected, "\(flaw): \(report.failures)")
        }
    }

    @Test("There is a wrong provider for each flaw")
    func complete() {
        #expect(Set(WrongProvider.all.map(\.flaw)).union([.none]) == Set(Flaw.allCases))
    }
}
