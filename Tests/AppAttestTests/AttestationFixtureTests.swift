import AssayAppAttest
import AssayCore
import AssayKit
import AssayTestSupport
import Testing

/// Attestations of real devices, from the first iOS 14 betas to iOS 27.
///
/// They lie beside a checkout, not in it.
@Suite(.enabled(if: Fixture.isPresent, Comment(rawValue: SharedFiles.absence)))
struct AttestationFixtureTests {
    @Test func thereAreFixtures() {
        #expect(Fixture.attestations.count >= 41)
        #expect(Fixture.assertions.count >= 22)
        #expect(Fixture.receipts.count >= 20)
        #expect(Fixture.damaged.count >= 3)
    }

    @Test("A genuine attestation verifies, and what it says is read", arguments: Fixture.attestations)
    func verifies(_ fixture: Fixture) throws {
        let verifier = try AttestationVerifier(receipts: .unchecked)
        let expectation = try fixture.attestationExpectation()
        let outcome = verifier.verify(
            try fixture.bytes("attestation_base64"), expecting: expectation, at: try fixture.instant("valid_at"))
        let result = try #require(outcome.verified, "\(outcome)")
        #expect(result.publicKey == (try fixture.publicKey()))
        #expect(result.keyID == expectation.keyID)
        #expect(result.environment == fixture.environment)
        // One device left the version empty, which is as good as none.
        #expect((result.system.version ?? "") == fixture.text("os_version"))
        #expect(result.system.build == fixture.text("os_build"))
        #expect(result.system.family == fixture.text("os_family"))
        #expect(result.certifiedAppID == fixture.text("app_id"))
        #expect(Int(result.flags) == fixture.number("auth_data_flags"))
        #expect(result.counter == 0)
        #expect(result.notBefore == (try fixture.instant("leaf_not_before")))
        #expect(result.notAfter == (try fixture.instant("leaf_not_after")))
        #expect(result.receipt == nil)
        let extensions = fixture.object("auth_data_extensions")
        #expect(result.bundleVersion == extensions["apple_bundle_version_01"]?.text)
        #expect(
            result.validationCategory.map { Hex.encode(littleEndian($0.rawValue)) }
                == extensions["apple_validation_category_01"]?.text)
        #expect(result.codeDirectoryHash == nil)
    }

    @Test("The receipt in an attestation counts when it is required", arguments: Fixture.attestations)
    func requiresReceipt(_ fixture: Fixture) throws {
        let attestation = try fixture.bytes("attestation_base64")
        let expectation = try fixture.attestationExpectation()
        let instant = try fixture.instant("valid_at")
        let strict = try AttestationVerifier(receipts: .required(ReceiptVerifier(), maximumAge: .seconds(300)))
            .verify(attestation, expecting: expectation, at: instant)
        let lenient = try AttestationVerifier(receipts: .required(ReceiptVerifier(), acceptsLegacy: true))
            .verify(attestation, expecting: expectation, at: instant)
        let recorded = try AttestationVerifier(receipts: .recorded(ReceiptVerifier(), maximumAge: .seconds(300)))
            .verify(attestation, expecting: expectation, at: instant)
        let outcome = try #require(recorded.verified?.receipt)
        switch fixture.text("receipt_expected") {
        case "valid":
            let receipt = try #require(strict.verified?.receipt?.receipt, "\(strict)")
            #expect(receipt.kind.rawValue == fixture.text("receipt_type"))
            #expect(receipt.environment == fixture.environment)
            #expect(receipt.appID == fixture.text("app_id"))
            #expect(receipt.created == (try fixture.instant("receipt_created")))
            #expect(receipt.expires == (try fixture.instant("receipt_expires")))
            #expect(receipt.clientHash == expectation.clientDataHash)
            #expect(receipt.riskMetric == nil)
            #expect(lenient == strict)
            #expect(recorded == strict)
        case "legacy-2020":
            #expect(strict.refusal?.reason == AppAttestReasons.receiptLegacyNotAllowed)
            #expect(lenient.verified?.receipt == outcome)
            #expect(lenient.verified?.receipt?.receipt?.created == (try fixture.instant("receipt_created")))
        default:
            #expect(strict.refusal?.reason == AppAttestReasons.receiptChainInvalid)
            #expect(lenient.refusal?.reason == AppAttestReasons.receiptChainInvalid)
            #expect(outcome.refusal?.reason == AppAttestReasons.receiptChainInvalid)
        }
    }

    @Test("Badly copied attestations are refused", arguments: Fixture.damaged)
    func refusesDamaged(_ fixture: Fixture) throws {
        let outcome = try AttestationVerifier(receipts: .unchecked).verify(
            Base64.decode(fixture.text("attestation_base64") ?? "") ?? [],
            expecting: try fixture.attestationExpectation(), at: try fixture.instant("valid_at"))
        // Bytes are missing or wrong amid the receipt: what follows is not where its lengths say it is.
        #expect(try #require(outcome.refusal).reason.code.hasPrefix("cbor_"), "\(outcome)")
    }

    @Test("Both ends of the leaf's validity belong to it, and nothing beyond", arguments: Fixture.attestations)
    func validityBorders(_ fixture: Fixture) throws {
        let verifier = try AttestationVerifier(receipts: .unchecked)
        let attestation = try fixture.bytes("attestation_base64")
        let expectation = try fixture.attestationExpectation()
        let first = try fixture.instant("leaf_not_before")
        let last = try fixture.instant("leaf_not_after")
        #expect(verifier.verify(attestation, expecting: expectation, at: first).verified != nil)
        #expect(verifier.verify(attestation, expecting: expectation, at: last).verified != nil)
        let early = verifier.verify(attestation, expecting: expectation, at: first - .milliseconds(1))
        #expect(early.refusal?.reason == AppAttestReasons.leafNotYetValid)
        let late = verifier.verify(attestation, expecting: expectation, at: last + .milliseconds(1))
        #expect(late.refusal?.reason == AppAttestReasons.leafExpired)
    }

    @Test("What the server expects must be what the attestation was made for")
    func refusesOtherExpectations() throws {
        let fixture = try Fixture.attestation("53319234")
        let good = try fixture.attestationExpectation()
        func reason(
            appID: String? = nil, keyID: [UInt8]? = nil, hash: [UInt8]? = nil,
            environments: Set<AppAttestEnvironment> = [.development]
        ) throws -> Reason? {
            let expectation = AttestationExpectation(
                appID: try appID.map { try AppAttestAppID($0) } ?? good.appID, keyID: keyID ?? good.keyID,
                clientDataHash: hash ?? good.clientDataHash, environments: environments)
            return try AttestationVerifier(receipts: .unchecked).verify(
                fixture.bytes("attestation_base64"), expecting: expectation, at: fixture.instant("valid_at")
            ).refusal?.reason
        }
        #expect(try reason() == nil)
        #expect(try reason(environments: [.development, .production]) == nil)
        #expect(try reason(environments: [.production]) == AppAttestReasons.environmentNotAllowed)
        #expect(try reason(environments: []) == AppAttestReasons.environmentNotAllowed)
        #expect(try reason(appID: "J4Y28BA298.swiss.ricardo.iphone.beta") == AppAttestReasons.appIDMismatch)
        #expect(try reason(appID: "J4Y28BA299.swiss.ricardo.iphone.Beta") == AppAttestReasons.appIDMismatch)
        #expect(try reason(keyID: good.keyID.replacing(at: 0, with: 0)) == AppAttestReasons.keyIdentifierMismatch)
        #expect(try reason(keyID: []) == AppAttestReasons.keyIdentifierMismatch)
        #expect(try reason(keyID: good.keyID.dropLast()) == AppAttestReasons.keyIdentifierMismatch)
        #expect(try reason(hash: good.clientDataHash.dropLast()) == AppAttestReasons.nonceMismatch)
        #expect(try reason(hash: good.clientDataHash + [0]) == AppAttestReasons.nonceMismatch)
        #expect(try reason(hash: []) == AppAttestReasons.nonceMismatch)
    }

    @Test("An attestation under another root is not trusted")
    func refusesOtherRoot() throws {
        let fixture = try Fixture.attestation("53319234")
        let verifier = AttestationVerifier(anchors: [try AppleRoots.receiptAnchor()], receipts: .unchecked)
        let outcome = verifier.verify(
            try fixture.bytes("attestation_base64"), expecting: try fixture.attestationExpectation(),
            at: try fixture.instant("valid_at"))
        #expect(outcome.refusal?.reason == AppAttestReasons.chainUntrusted)
    }

    @Test("The receipt of another attestation is refused")
    func refusesSwappedReceipt() throws {
        let fixture = try Fixture.attestation("4bb22e4a")
        let other = try Fixture.attestation("25a5e255")
        let swapped = try AttestationParts(fixture.bytes("attestation_base64"))
            .with(receipt: AttestationParts(other.bytes("attestation_base64")).receipt)
        let outcome = try AttestationVerifier(receipts: .required(ReceiptVerifier())).verify(
            swapped, expecting: fixture.attestationExpectation(), at: fixture.instant("valid_at"))
        #expect(outcome.refusal?.reason == AppAttestReasons.receiptAppIDMismatch)
    }

    private func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
