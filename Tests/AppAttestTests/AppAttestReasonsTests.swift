import AssayAppAttest
import AssayCore
import Testing

struct AppAttestReasonsTests {
    @Test func codesAreStableWordsAndDiffer() {
        let codes = AppAttestReasons.all.map(\.code)
        #expect(Set(codes).count == codes.count)
        for code in codes {
            #expect(code.allSatisfy { $0 == "_" || $0.isNumber || ($0.isLowercase && $0.isASCII) })
        }
    }

    @Test func summariesAreOneSentence() {
        for reason in AppAttestReasons.all {
            #expect(reason.summary.hasSuffix("."))
            #expect(reason.summary.dropLast().allSatisfy { $0 != "\n" })
        }
    }
}
