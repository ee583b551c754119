public import AssayCrypto
internal import AssayKit

/// Verifies assertions with an attested key (Apple, Validating Apps That Connect to Your Server).
public struct AssertionVerifier: Sendable {
    /// The most bytes of an assertion; real ones have up to 230.
    public static let byteLimit = 4 * 1024

    public init() {}

    /// Verifies an assertion with the public key that an attestation gave: `04 ‖ X ‖ Y`.
    public func verify(
        _ assertion: [UInt8], publicKey: [UInt8], expecting expectation: AssertionExpectation
    ) -> AssertionOutcome {
        guard let key = try? ECPublicKey(curve: .p256, x963: publicKey) else {
            return .refused(AppAttestRefusal(AppAttestReasons.assertionKeyInvalid))
        }
        return verify(assertion, publicKey: key, expecting: expectation)
    }

    /// Verifies an assertion with an attested public key that is at hand already.
    public func verify(
        _ assertion: [UInt8], publicKey: ECPublicKey, expecting expectation: AssertionExpectation
    ) -> AssertionOutcome {
        do throws(AppAttestRefusal) {
            return .verified(try verified(assertion, publicKey, expectation))
        } catch {
            return .refused(error)
        }
    }

    private func verified(
        _ bytes: [UInt8], _ publicKey: ECPublicKey, _ expectation: AssertionExpectation
    ) throws(AppAttestRefusal) -> VerifiedAssertion {
        guard bytes.count <= Self.byteLimit else { throw AppAttestRefusal(AppAttestReasons.evidenceTooLarge) }
        guard publicKey.curve == .p256 else { throw AppAttestRefusal(AppAttestReasons.assertionKeyInvalid) }
        let object = try AssertionObject(bytes)
        let data = try AuthenticatorData(assertion: object.authenticatorData)
        guard ConstantTime.equal(data.relyingPartyHash, expectation.appID.digest) else {
            throw AppAttestRefusal(AppAttestReasons.appIDMismatch)
        }
        guard data.counter > expectation.previousCounter else {
            throw AppAttestRefusal(
                AppAttestReasons.counterNotAdvanced, "\(data.counter) after \(expectation.previousCounter)")
        }
        // The nonce is the message of the signature, not its digest: it is hashed once more.
        let nonce = SHA256.hash(object.authenticatorData, expectation.clientDataHash)
        guard publicKey.isValidSignature(der: object.signature, digest: .sha256, message: nonce[...]) else {
            throw AppAttestRefusal(AppAttestReasons.assertionSignatureInvalid)
        }
        return VerifiedAssertion(
            counter: data.counter, validationCategory: data.extensions.validationCategory,
            bundleVersion: data.extensions.bundleVersion, codeDirectoryHash: data.extensions.codeDirectoryHash,
            codeDirectoryHashType: data.extensions.codeDirectoryHashType, flags: data.flags)
    }
}
