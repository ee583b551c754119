import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import Testing

/// Receipts that Apple gave in exchange for others, and those inside attestations.
@Suite(.enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)))
struct ReceiptTests {
    @Test("An exchanged receipt verifies, and its fields are read", arguments: Fixture.receipts)
    func verifies(_ fixture: Fixture) throws {
        let fields = fixture.object("fields")
        func time(_ number: String) throws -> Instant {
            try #require(Instant(rfc3339: fields[number]?.text ?? ""))
        }
        let created = try time("12")
        let outcome = try ReceiptVerifier().verify(
            fixture.bytes("receipt_base64"),
            expecting: ReceiptExpectation(
                appID: fixture.appID(), environment: .development, maximumAge: .seconds(300)), at: created)
        let receipt = try #require(outcome.receipt, "\(outcome)")
        switch (fixture.text("expected"), outcome) {
        case ("valid", .verified), ("legacy-2020", .legacy2020): break
        default: Issue.record("\(outcome)")
        }
        #expect(receipt.kind == .exchange)
        #expect(receipt.appID == fields["2"]?.text)
        #expect(receipt.environment == .development)
        #expect(receipt.created == created)
        #expect(receipt.notBefore == (try time("19")))
        #expect(receipt.expires == (try time("21")))
        #expect(receipt.riskMetric.map(String.init) == fields["17"]?.text)
        #expect(receipt.token.map { String(decoding: $0, as: UTF8.self) } == fields["5"]?.text)
        #expect(describe(receipt.certificate) == fields["3"]?.text)
        #expect(describe(receipt.clientHash) == fields["4"]?.text)
    }

    @Test("A receipt has a time, an age, an app, a key and an environment")
    func expectations() throws {
        let receipt = try Fixture.receipt("67d91d83")
        let appID = try AppAttestAppID("6MURL8TA57.de.vincent-haupert.apple-appattest-poc")
        let created = try #require(Instant(rfc3339: "2021-01-23T12:05:28.077Z"))
        let key = try publicKey(of: receipt, appID, created)
        func reason(
            _ appID: AppAttestAppID = appID, key: [UInt8]? = nil, environment: AppAttestEnvironment? = nil,
            age: Duration? = nil, after: Duration = .zero
        ) throws -> Reason? {
            try ReceiptVerifier().verify(
                receipt,
                expecting: ReceiptExpectation(
                    appID: appID, publicKey: key, environment: environment, maximumAge: age),
                at: created + after
            ).refusal?.reason
        }
        #expect(try reason() == nil)
        #expect(try reason(key: key) == nil)
        #expect(try reason(key: key.replacing(at: 1, with: key[1] ^ 1)) == AppAttestReasons.receiptKeyMismatch)
        #expect(try reason(AppAttestAppID("6MURL8TA57.de")) == AppAttestReasons.receiptAppIDMismatch)
        #expect(try reason(environment: .development) == nil)
        #expect(try reason(environment: .production) == AppAttestReasons.receiptEnvironmentMismatch)
        #expect(try reason(age: .seconds(300), after: .seconds(300)) == nil)
        #expect(try reason(age: .seconds(300), after: .milliseconds(300_001)) == AppAttestReasons.receiptTooOld)
        #expect(try reason(after: .seconds(-60)) == nil)
        #expect(try reason(after: .milliseconds(-60_001)) == AppAttestReasons.receiptFromFuture)
        #expect(try reason(after: .seconds(90 * 86_400)) == nil)
        #expect(try reason(after: .milliseconds(90 * 86_400_000 + 1)) == AppAttestReasons.receiptExpired)
    }

    @Test("A receipt counts under the anchor only whose very certificate it carries")
    func otherAnchor() throws {
        let verifier = ReceiptVerifier(anchors: [try AppleRoots.appAttestAnchor()])
        let outcome = verifier.verify(
            try Fixture.receipt("67d91d83"),
            expecting: ReceiptExpectation(
                appID: try AppAttestAppID("6MURL8TA57.de.vincent-haupert.apple-appattest-poc")),
            at: try #require(Instant(rfc3339: "2021-01-23T12:05:28.077Z")))
        #expect(outcome.refusal?.reason == AppAttestReasons.receiptRootUnknown)
    }

    @Test(
        "Bytes that are no receipt",
        arguments: [
            [], [0x30], [0x30, 0x80], [0x30, 0x00], [0x30, 0x80, 0x00, 0x00], [UInt8](repeating: 0x30, count: 70_000),
            [UInt8](repeating: 0x24, count: 5000), [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
        ])
    func rubbish(_ bytes: [UInt8]) throws {
        let outcome = try ReceiptVerifier().verify(
            bytes, expecting: ReceiptExpectation(appID: AppAttestAppID("ABCDE12345.a")), at: Instant(seconds: 0))
        #expect(outcome.refusal?.reason == AppAttestReasons.receiptMalformed)
    }

    private func publicKey(of receipt: [UInt8], _ appID: AppAttestAppID, _ instant: Instant) throws -> [UInt8] {
        let outcome = try ReceiptVerifier().verify(receipt, expecting: ReceiptExpectation(appID: appID), at: instant)
        let certificate = try Certificate(der: try #require(outcome.receipt).certificate[...])
        return Array(certificate.key.bytes)
    }

    /// How the fixtures describe a long value.
    private func describe(_ bytes: [UInt8]) -> String {
        "\(bytes.count) bytes, sha256 \(Hex.encode(SHA256.hash(bytes)).prefix(16))"
    }
}
