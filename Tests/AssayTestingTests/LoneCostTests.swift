import AssayKit
import AssayTesting
import Foundation
import Testing

/// What calls cost is the process's time and memory, so nothing else may run in it: `.ci/run` makes these tests alone.
@Suite(
    "The conformance suite of providers, alone in its process", .serialized,
    .enabled(
        if: ProcessInfo.processInfo.environment["ASSAY_TESTS_ALONE"] != nil,
        "these tests measure their process: ASSAY_TESTS_ALONE=1 swift test --filter LoneCostTests"))
struct LoneCostTests {
    @Test("A provider that keeps what it reads is found, and a correct one is not called so")
    func memory() async {
        await ConformanceProcess.$isAlone.withValue(true) {
            let correct = await ClaimsDevice.suite(CorrectClaims.self).report(.quick)
            #expect(correct.failures == [])
            #expect(!correct.overlooked.contains("memory") && !correct.overlooked.contains("time"))
            let wrong = await ClaimsDevice.suite(KeepsWhatItReads.self).report(.quick)
            #expect(wrong.lines.filter(\.isFailed).map(\.check) == ["memory"], "\(wrong.failures)")
        }
    }
}
