import AssayAppAttest
import AssayCore
import AssayCrypto
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

/// An explanation tells the checks that a verification made, in its order, and those that it did not come to.
@Suite struct ExplanationTests {
    private static let attestations: [NegativeCase<AttestationScene>] =
        NegativeCase.encoding + NegativeCase.authenticatorData + NegativeCase.certificates + NegativeCase.receipts

    private static let mismatches: [NegativeCase<AttestationScene>] = [
        .refused(Reasons.appIDMismatch, "the digest of ABCDE12345.com.example.other") {
            $0.expectedAppID = "ABCDE12345.com.example.other"
        },
        .refused(Reasons.environmentNotAllowed, "expected production, found development") {
            $0.environments = [.production]
        },
        .refused(Reasons.nonceMismatch, "for the client data hash 0102") { $0.expectedClientDataHash = [1, 2] },
        .refused(Reasons.leafExpired, ", judged at 2027-11-21T10:00:00Z") {
            $0.judged = Instant(seconds: 1_795_255_200 + 365 * 86_400)
        },
        .refused(Reasons.receiptTooOld, "found 2026-11-21T10:00:00") { $0.judged = $0.judged + .seconds(301) },
        .refused(Reasons.keyIdentifierMismatch, "expected CQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQk=, found ") {
            $0.expectedKeyID = [UInt8](repeating: 9, count: 32)
        },
    ]

    private func explain(_ scene: AttestationScene) throws -> (AttestationOutcome, [AppAttestTrace.Step]) {
        var trace = AppAttestTrace()
        let outcome = try scene.verifier().verify(
            scene.attestation(), expecting: scene.expectation(), at: scene.judged, explaining: &trace)
        return (outcome, trace.steps)
    }

    @Test("Good evidence passes every check that was planned, in that order")
    func good() throws {
        let (outcome, steps) = try explain(AttestationScene())
        #expect(outcome.verified != nil)
        #expect(steps.allSatisfy { $0.outcome == .passed && !$0.expected.isNil && !$0.found.isNil })
        #expect(
            steps.map(\.check.rawValue) == [
                "evidence_size", "evidence_form", "authenticator_data", "app_id", "counter_zero", "authenticator",
                "environment", "leaf", "key_identifier", "credential_identifier", "credential_key", "nonce",
                "leaf_point",
                "certificate_path", "receipt_form", "receipt_fields", "receipt_app_id", "receipt_environment",
                "receipt_type", "receipt_key", "receipt_client_data_hash", "receipt_leaf_validity",
                "receipt_not_future",
                "receipt_age", "receipt_expiry", "receipt_signer", "receipt_signature", "receipt_signed_attributes",
            ])
    }

    @Test(
        "Refused evidence fails one check, after those that passed and before those that were not reached",
        arguments: attestations)
    func refused(_ row: NegativeCase<AttestationScene>) throws {
        var scene = try AttestationScene()
        try row.arrange(&scene)
        let (outcome, steps) = try explain(scene)
        #expect(
            try scene.outcome().refusal?.reason == outcome.refusal?.reason, "the same with an explanation and without")
        let failed = steps.firstIndex { $0.outcome == .failed }
        #expect((failed == nil) == (row.reason == nil))
        let end = failed ?? steps.endIndex
        #expect(steps[..<end].allSatisfy { $0.outcome == .passed })
        #expect(steps.dropFirst(end + 1).allSatisfy { $0.outcome == .notReached && $0.expected.isNil })
        guard let failed else { return }
        // What the log says of a refusal is what the explanation says.
        let found = try #require(steps[failed].found)
        let detail = outcome.refusal?.detail
        let isTold = detail.map { $0.contains(found) || found.contains($0) }
        #expect(isTold != false, "\(found) against \(detail ?? "")")
    }

    @Test("The same steps are planned, whatever fails")
    func plan() throws {
        let all = try explain(AttestationScene()).1.map(\.check)
        var early = try AttestationScene()
        early.expectedAppID = "ABCDE12345.com.example.other"
        #expect(try explain(early).1.map(\.check) == all)
        var late = try AttestationScene()
        late.judged = late.judged + .seconds(3600)
        #expect(try explain(late).1.map(\.check) == all)
    }

    @Test(
        "A mismatch shows both values",
        arguments: mismatches)
    func values(_ row: NegativeCase<AttestationScene>) throws {
        var scene = try AttestationScene()
        try row.arrange(&scene)
        let refusal = try #require(try scene.outcome().refusal)
        #expect(refusal.reason == row.reason)
        #expect(refusal.detail?.contains(row.rule) == true, "\(refusal)")
    }

    @Test("A receipt for another key says which keys")
    func receiptKeys() throws {
        var scene = try ExchangedReceiptScene()
        scene.publicKey = [4] + [UInt8](repeating: 1, count: 64)
        let refusal = try #require(try scene.outcome().refusal)
        #expect(refusal.reason == Reasons.receiptKeyMismatch)
        #expect(refusal.detail?.contains("expected the key ") == true)
        #expect(refusal.detail?.contains(", found the key ") == true, "\(refusal)")
    }

    @Test(
        "An assertion is explained as well",
        arguments: NegativeCase<AssertionScene>.all)
    func assertions(_ row: NegativeCase<AssertionScene>) throws {
        var scene = AssertionScene()
        try row.arrange(&scene)
        guard let refusal = try scene.outcome().refusal, refusal.reason == Reasons.counterNotAdvanced else { return }
        #expect(refusal.detail?.hasPrefix("expected above \(scene.previousCounter), found ") == true)
    }

    @Test(
        "Evidence of real devices passes every check, and its receipts are explained",
        .enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)), arguments: Fixture.attestations)
    func real(_ fixture: Fixture) throws {
        var trace = AppAttestTrace()
        let outcome = try AttestationVerifier(receipts: .recorded(ReceiptVerifier())).verify(
            fixture.bytes("attestation_base64"), expecting: fixture.attestationExpectation(),
            at: fixture.instant("valid_at"), explaining: &trace)
        let receipt = try #require(outcome.verified?.receipt)
        let failed = trace.steps.filter { $0.outcome == .failed }
        #expect(failed.count == (receipt.refusal == nil ? 0 : 1))
        #expect(failed.allSatisfy { $0.check.rawValue.hasPrefix("receipt_") })
        #expect(trace.steps.prefix(14).allSatisfy { $0.outcome == .passed })
        #expect(trace.steps.count == 26)
    }

    @Test(
        "Assertions of real devices pass every check",
        .enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)), arguments: Fixture.assertions)
    func real(assertion fixture: Fixture) throws {
        var trace = AppAttestTrace()
        let outcome = AssertionVerifier().verify(
            try fixture.bytes("assertion_base64"), publicKey: try ECPublicKey(curve: .p256, x963: fixture.publicKey()),
            expecting: try fixture.assertionExpectation(), explaining: &trace)
        #expect(outcome.verified != nil)
        #expect(trace.steps.map(\.outcome) == [AppAttestTrace.Outcome](repeating: .passed, count: 7))
    }
}
