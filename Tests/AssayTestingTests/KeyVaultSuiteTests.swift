import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@Suite("The conformance suite of key vaults")
struct KeyVaultSuiteTests {
    private func failures(_ flaw: SharedVault.Flaw) async -> [SuiteFailure] {
        await KeyVaultSuite { _ in
            let place = SharedVault.Place()
            return KeyVaultSuite.Subject(
                SharedVault(place, flaw: flaw), reopen: { SharedVault(place, flaw: flaw) },
                damages: { place.isDamaged = true }, fails: { place.isFailing = $0 })
        }
        .run()
    }

    @Test("A correct vault passes")
    func correct() async {
        #expect(await failures(.none) == [])
    }

    @Test(
        "A wrong vault fails, at the check that is made for it",
        arguments: [
            (SharedVault.Flaw.ignoresTheExpectedRevision, "races"), (.replacesWhatExists, "expected"),
            (.countsEqualDocumentsOnce, "revisions"), (.cutsLargeDocuments, "documents"), (.showsDocuments, "secrecy"),
            (.readsDamageAsNothing, "damage"), (.worksWhenClosed, "closing"), (.hidesFailures, "failing"),
            (.keepsNothing, "reopening"),
        ])
    func wrong(flaw: SharedVault.Flaw, promise: String) async {
        let failed = Set(await failures(flaw).map(\.promise))
        #expect(failed.contains(promise), "\(failed)")
        #expect(failed.count <= 5, "\(failed)")
    }

    @Test("It is one for `assay conformance`")
    func report() async {
        let suite = KeyVaultSuite { _ in
            let place = SharedVault.Place()
            return KeyVaultSuite.Subject(
                SharedVault(place, flaw: .worksWhenClosed), reopen: { SharedVault(place) })
        }
        let report = await PromiseSuite("shared", version: "1.0.0", suite).report(.quick)
        #expect(report.kind == .vault)
        #expect(report.lines.filter(\.isFailed).map(\.check) == ["closing"])
        #expect(report.markdown.contains("| `closing` | later calls throw | **failed**: "))
    }
}
