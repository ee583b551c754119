import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("The conformance suite of consumers")
struct TokenConsumerSuiteTests {
    @Test("A correct consumer passes every check, and the report says what was not looked at")
    func correct() async {
        let report = await PassClient.suite(CorrectPass.self).report(.quick)
        #expect(report.failures == [])
        #expect(Set(report.overlooked) == ["demands", "time", "memory"])
    }

    @Test("Each wrong consumer fails, at the check that is made for it", arguments: WrongPasses.all.map(\.flaw))
    func wrong(_ flaw: PassFlaw) async {
        for consumer in WrongPasses.all where consumer.flaw == flaw {
            let report = await ConformanceProcess.$isAlone.withValue(consumer.check.isExactly("time")) {
                await consumer.suite().report(.quick)
            }
            let failed = report.lines.filter(\.isFailed).map(\.check)
            #expect(failed.contains { $0.isExactly(consumer.check) }, "\(report.failures)")
            #expect(failed.count <= 7, "\(report.failures)")
        }
    }

    @Test("There is a wrong consumer for each flaw")
    func complete() {
        #expect(Set(WrongPasses.all.map(\.flaw)).union([.none]) == Set(PassFlaw.allCases))
    }

    @Test("Without a section that refuses, the report says that a change of the policy was not looked at")
    func leftOut() async {
        var subject = PassClient.subject
        subject.refusingSection = nil
        subject.requests[0].adversaries[.notGranted] = nil
        let report = await TokenConsumerSuite(PassConsumer<CorrectPass>.self, subject).report(.quick)
        #expect(Set(report.overlooked) == ["demands", "policy-change", "time", "memory"])
        #expect(report.lines.filter(\.isFailed).map(\.check) == ["adversary-not-granted"])
    }
}

extension ConformanceReport {
    /// The checks that could not look at something, on a machine however slow.
    var overlooked: [String] {
        lines.filter { line in
            line.notLookedAt.map { !$0.hasPrefix("what was left after") && !$0.hasPrefix("the checks before took") }
                ?? false
        }.map(\.check)
    }
}
