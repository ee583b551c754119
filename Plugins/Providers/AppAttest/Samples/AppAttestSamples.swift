public import AssayCore
internal import AssayCrypto

/// Verifies stored evidence offline: without a server, a challenge that was stored, or a clock.
///
/// A sample is a JSON object: `kind` (attestation, assertion or receipt), the evidence in `attestation_base64`,
/// `assertion_base64` or `receipt_base64`, and what it must agree with: `app_id`, `client_data_hash_base64`; for
/// attestations `key_id_base64`, `environment` and `valid_at`; for assertions `public_key_pem` and `previous_counter`.
///
/// Instead of the client data hash a sample may have its source: `challenge_utf8` or `challenge_base64`, and for
/// assertions `client_data_utf8` or `client_data_base64`. They are hashed with SHA-256, except a challenge where
/// `client_data_hash_is` is `challenge`: then the challenge itself is the client data hash, as in Apple's own samples.
/// Key identifiers may be in hexadecimal digits.
public struct AppAttestSamples: Sendable {
    private let attestations: AttestationVerifier
    private let receipts: ReceiptVerifier
    private let time: Instant?
    private let requiresReceipt: Bool

    /// - Parameters:
    ///   - trustAnchor: a certificate in PEM or DER, instead of Apple's App Attest root.
    ///   - receiptTrustAnchor: a certificate in PEM or DER, instead of Apple's root of receipts.
    ///   - time: when to verify, instead of each sample's `valid_at`.
    ///   - requiresReceipt: whether an attestation is refused when its receipt is invalid.
    public init(
        trustAnchor: [UInt8]?, receiptTrustAnchor: [UInt8]?, at time: Instant?, requiresReceipt: Bool
    ) throws(AppAttestSampleError) {
        receipts = ReceiptVerifier(
            anchors: [try Self.anchor(receiptTrustAnchor, otherwise: AppleRoots.receiptAnchor)])
        attestations = AttestationVerifier(
            anchors: [try Self.anchor(trustAnchor, otherwise: AppleRoots.appAttestAnchor)],
            receipts: .recorded(receipts))
        self.time = time
        self.requiresReceipt = requiresReceipt
    }

    /// Verifies a sample.
    ///
    /// - `place`: the place of the sample, for one that does not name its source.
    /// - Returns: whether it is verified; a report, an object with `source`, `kind`, `verdict`, `reason` and the facts
    ///   in the evidence, in which unknown values are null; and an explanation for people, with the expected and the
    ///   found value of each check.
    public func verify(
        _ sample: JSON, place: String
    ) throws(AppAttestSampleError) -> (isVerified: Bool, report: JSON, explanation: String) {
        var trace = AppAttestTrace()
        let sample = try AppAttestSample(sample, place: place)
        guard let appID = try? AppAttestAppID(try sample.text("app_id")) else {
            throw AppAttestSampleError("`app_id` must be a team identifier, a dot, and a bundle identifier")
        }
        let report =
            switch sample.kind {
            case .attestation: try verifyAttestation(sample, appID, &trace)
            case .assertion: try verifyAssertion(sample, appID, &trace)
            case .receipt: try verifyReceipt(sample, appID, &trace)
            }
        return (report.isVerified, report.json, report.explanation(trace, place: place))
    }

    private static func anchor(
        _ bytes: [UInt8]?, otherwise apple: () throws(CertificateError) -> TrustAnchor
    ) throws(AppAttestSampleError) -> TrustAnchor {
        do throws(CertificateError) {
            guard let bytes else { return try apple() }
            let der = String(validating: bytes, as: UTF8.self).flatMap { PEMCertificate.decode($0) } ?? bytes
            return try TrustAnchor(der: der, accepting: .ecdsa)
        } catch {
            throw AppAttestSampleError("not a certificate that can be trusted: \(error)")
        }
    }

    private func verifyAttestation(
        _ sample: AppAttestSample, _ appID: AppAttestAppID, _ trace: inout AppAttestTrace
    ) throws(AppAttestSampleError) -> AppAttestSampleReport {
        var environments = Set(AppAttestEnvironment.allCases)
        if let name = try sample.optionalText("environment") {
            guard let environment = AppAttestEnvironment(exactly: name) else {
                throw AppAttestSampleError("`environment` must be development or production")
            }
            environments = [environment]
        }
        let expectation = AttestationExpectation(
            appID: appID, keyID: try sample.keyID(), clientDataHash: try sample.clientDataHash(),
            environments: environments)
        let outcome = attestations.verify(
            try sample.bytes("attestation_base64"), expecting: expectation,
            at: try instant(sample.optionalText("valid_at"), of: sample), explaining: &trace)
        switch outcome {
        case .refused(let refusal): return AppAttestSampleReport(sample, .refused(refusal))
        case .verified(let attestation):
            var result = AppAttestSampleReport(sample, .verified)
            if requiresReceipt, case .refused(let refusal)? = attestation.receipt {
                result = AppAttestSampleReport(sample, .refused(refusal))
            }
            result.environment = attestation.environment
            result.systemVersion = attestation.system.version
            result.systemBuild = attestation.system.build
            result.systemFamily = attestation.system.family
            result.receipt = attestation.receipt
            result.counter = attestation.counter
            result.flags = attestation.flags
            result.bundleVersion = attestation.bundleVersion
            result.validationCategory = attestation.validationCategory
            return result
        }
    }

    private func verifyAssertion(
        _ sample: AppAttestSample, _ appID: AppAttestAppID, _ trace: inout AppAttestTrace
    ) throws(AppAttestSampleError) -> AppAttestSampleReport {
        let pem = try sample.text("public_key_pem")
        let key: PublicKey
        do throws(CryptoError) {
            key = try PublicKey(pem: Array(pem.utf8))
        } catch {
            throw AppAttestSampleError("`public_key_pem` is not a public key: \(error.message)")
        }
        guard case .ec(let point) = key else { throw AppAttestSampleError("`public_key_pem` is not a key on P-256") }
        let expectation = AssertionExpectation(
            appID: appID, clientDataHash: try sample.clientDataHash(),
            previousCounter: try sample.counter("previous_counter"))
        let outcome = AssertionVerifier().verify(
            try sample.bytes("assertion_base64"), publicKey: point, expecting: expectation, explaining: &trace)
        switch outcome {
        case .refused(let refusal): return AppAttestSampleReport(sample, .refused(refusal))
        case .verified(let assertion):
            var result = AppAttestSampleReport(sample, .verified)
            result.counter = assertion.counter
            result.flags = assertion.flags
            result.bundleVersion = assertion.bundleVersion
            result.validationCategory = assertion.validationCategory
            return result
        }
    }

    private func verifyReceipt(
        _ sample: AppAttestSample, _ appID: AppAttestAppID, _ trace: inout AppAttestTrace
    ) throws(AppAttestSampleError) -> AppAttestSampleReport {
        let instant = try instant(try sample.optionalText("valid_at") ?? sample.created, of: sample)
        let outcome = receipts.verify(
            try sample.bytes("receipt_base64"), expecting: ReceiptExpectation(appID: appID), at: instant,
            explaining: &trace)
        var result =
            if case .refused(let refusal) = outcome {
                AppAttestSampleReport(sample, .refused(refusal))
            } else {
                AppAttestSampleReport(sample, .verified)
            }
        result.environment = outcome.receipt?.environment
        result.receipt = outcome
        return result
    }

    /// The requested time, otherwise the sample's own.
    private func instant(_ text: String?, of sample: AppAttestSample) throws(AppAttestSampleError) -> Instant {
        if let time { return time }
        return try sample.time(text)
    }
}
