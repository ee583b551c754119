public import AssayCrypto
public import AssayKit

/// Verifies attestation objects: the nine steps of Apple, Validating Apps That Connect to Your Server, and some more.
///
/// One verifier serves any number of apps, from any number of tasks. What costs little is judged first: the signature on
/// the leaf, which takes most of the time, comes when nothing else is left but the receipt.
public struct AttestationVerifier: Sendable {
    /// The most bytes of an attestation object; real ones have up to 5968.
    public static let byteLimit = 16 * 1024

    private let path: AttestationPath
    private let receipts: ReceiptRequirement

    /// A verifier of attestations under any of the anchors, which is Apple's App Attest root but in tests.
    public init(anchors: [TrustAnchor], receipts: ReceiptRequirement) {
        path = AttestationPath(anchors: anchors)
        self.receipts = receipts
    }

    /// A verifier of attestations that Apple certified.
    public init(receipts: ReceiptRequirement) throws(CertificateError) {
        self.init(anchors: [try AppleRoots.appAttestAnchor()], receipts: receipts)
    }

    /// Verifies an attestation object at a point in time.
    public func verify(
        _ attestation: [UInt8], expecting expectation: AttestationExpectation, at instant: Instant
    ) -> AttestationOutcome {
        do throws(AppAttestRefusal) {
            return .verified(try verified(attestation, expectation, at: instant))
        } catch {
            return .refused(error)
        }
    }

    private func verified(
        _ bytes: [UInt8], _ expectation: AttestationExpectation, at instant: Instant
    ) throws(AppAttestRefusal) -> VerifiedAttestation {
        guard bytes.count <= Self.byteLimit else { throw AppAttestRefusal(AppAttestReasons.evidenceTooLarge) }
        let object = try AttestationObject(bytes)
        let data = try AuthenticatorData(attestation: object.authenticatorData)
        guard let credential = data.credential else { throw AppAttestRefusal(AppAttestReasons.attestedDataMissing) }
        let environment = try Self.judge(data, credential, expectation)
        let leaf = try AttestedLeaf(object.leaf)
        try Self.judge(leaf, credential, expectation)
        let nonce = SHA256.hash(object.authenticatorData, expectation.clientDataHash)
        guard ConstantTime.equal(leaf.nonce, nonce) else { throw AppAttestRefusal(AppAttestReasons.nonceMismatch) }
        // OpenSSL alone can say whether a point is on its curve.
        do {
            _ = try leaf.certificate.key.publicKey()
        } catch {
            throw AppAttestRefusal(AppAttestReasons.leafPointInvalid)
        }
        try path.verify(leaf: leaf.certificate, intermediate: object.intermediate, at: instant)
        let receipt = try receiptOutcome(of: object, leaf, environment, expectation, at: instant)
        return VerifiedAttestation(
            publicKey: credential.publicKey, keyID: expectation.keyID, environment: environment, system: leaf.system,
            validationCategory: data.extensions.validationCategory, bundleVersion: data.extensions.bundleVersion,
            codeDirectoryHash: data.extensions.codeDirectoryHash,
            codeDirectoryHashType: data.extensions.codeDirectoryHashType, certifiedAppID: leaf.appID,
            flags: data.flags, counter: data.counter, notBefore: leaf.certificate.notBefore,
            notAfter: leaf.certificate.notAfter, receiptBytes: object.receipt, receipt: receipt)
    }

    /// Judges the authenticator data by itself.
    private static func judge(
        _ data: AuthenticatorData, _ credential: AttestedCredential, _ expectation: AttestationExpectation
    ) throws(AppAttestRefusal) -> AppAttestEnvironment {
        guard ConstantTime.equal(data.relyingPartyHash, expectation.appID.digest) else {
            throw AppAttestRefusal(AppAttestReasons.appIDMismatch)
        }
        guard data.counter == 0 else { throw AppAttestRefusal(AppAttestReasons.counterNotZero) }
        guard let environment = AppAttestEnvironment(aaguid: credential.aaguid) else {
            throw AppAttestRefusal(AppAttestReasons.aaguidUnknown)
        }
        guard expectation.environments.contains(environment) else {
            throw AppAttestRefusal(AppAttestReasons.environmentNotAllowed, environment.rawValue)
        }
        return environment
    }

    /// Judges that leaf, credential and client mean the same key.
    private static func judge(
        _ leaf: AttestedLeaf, _ credential: AttestedCredential, _ expectation: AttestationExpectation
    ) throws(AppAttestRefusal) {
        let point = leaf.certificate.key.point
        guard ConstantTime.equal(SHA256.hash(point), expectation.keyID) else {
            throw AppAttestRefusal(AppAttestReasons.keyIdentifierMismatch)
        }
        guard ConstantTime.equal(credential.credentialID, expectation.keyID) else {
            throw AppAttestRefusal(AppAttestReasons.credentialIDMismatch)
        }
        guard ConstantTime.equal(credential.publicKey, point) else {
            throw AppAttestRefusal(AppAttestReasons.coseKeyMismatch)
        }
    }

    private func receiptOutcome(
        of object: AttestationObject, _ leaf: AttestedLeaf, _ environment: AppAttestEnvironment,
        _ expectation: AttestationExpectation, at instant: Instant
    ) throws(AppAttestRefusal) -> ReceiptOutcome? {
        func outcome(_ verifier: ReceiptVerifier, _ maximumAge: Duration?) -> ReceiptOutcome {
            let attestation = ReceiptExpectation.Attestation(
                leaf: object.leaf, leafNotBefore: leaf.certificate.notBefore, leafNotAfter: leaf.certificate.notAfter,
                clientDataHash: expectation.clientDataHash, environment: environment)
            let expectation = ReceiptExpectation(
                appID: expectation.appID, attestation: attestation, maximumAge: maximumAge)
            return verifier.verify(object.receipt, expecting: expectation, at: instant)
        }
        switch receipts {
        case .unchecked:
            return nil
        case .recorded(let verifier, let maximumAge):
            return outcome(verifier, maximumAge)
        case .required(let verifier, let maximumAge, let acceptsLegacy):
            let outcome = outcome(verifier, maximumAge)
            switch outcome {
            case .verified: return outcome
            case .legacy2020 where acceptsLegacy: return outcome
            case .legacy2020: throw AppAttestRefusal(AppAttestReasons.receiptLegacyNotAllowed)
            case .refused(let refusal): throw refusal
            }
        }
    }
}
