internal import AppAttest
internal import AssayCrypto
internal import AssayKit

/// Verifies samples by themselves: without a server, a challenge that was stored, or a clock.
struct SampleVerifier {
    private let attestations: AttestationVerifier
    private let receipts: ReceiptVerifier
    private let time: Instant?
    private let requiresReceipt: Bool

    init(anchor: TrustAnchor, receiptAnchor: TrustAnchor, at time: Instant?, requiresReceipt: Bool) {
        receipts = ReceiptVerifier(anchors: [receiptAnchor])
        attestations = AttestationVerifier(anchors: [anchor], receipts: .recorded(receipts))
        self.time = time
        self.requiresReceipt = requiresReceipt
    }

    func verify(_ sample: Sample) throws(SampleError) -> SampleResult {
        guard let appID = try? AppAttestAppID(try sample.text("app_id")) else {
            throw SampleError("`app_id` must be a team identifier, a dot, and a bundle identifier")
        }
        return switch sample.kind {
        case .attestation: try verifyAttestation(sample, appID)
        case .assertion: try verifyAssertion(sample, appID)
        case .receipt: try verifyReceipt(sample, appID)
        }
    }

    private func verifyAttestation(_ sample: Sample, _ appID: AppAttestAppID) throws(SampleError) -> SampleResult {
        var environments = Set(AppAttestEnvironment.allCases)
        if let name = sample.optionalText("environment") {
            guard let environment = AppAttestEnvironment(rawValue: name) else {
                throw SampleError("`environment` must be development or production")
            }
            environments = [environment]
        }
        let expectation = AttestationExpectation(
            appID: appID, keyID: try sample.bytes("key_id_base64"),
            clientDataHash: try sample.bytes("client_data_hash_base64"), environments: environments)
        let outcome = attestations.verify(
            try sample.bytes("attestation_base64"), expecting: expectation,
            at: try instant(sample.optionalText("valid_at"), of: sample))
        switch outcome {
        case .refused(let refusal): return SampleResult(sample, .refused(refusal))
        case .verified(let attestation):
            var result = SampleResult(sample, .verified)
            if requiresReceipt, case .refused(let refusal)? = attestation.receipt {
                result = SampleResult(sample, .refused(refusal))
            }
            result.environment = attestation.environment
            result.systemVersion = attestation.system.version
            result.systemBuild = attestation.system.build
            result.receipt = attestation.receipt
            result.counter = attestation.counter
            result.flags = attestation.flags
            result.bundleVersion = attestation.bundleVersion
            result.validationCategory = attestation.validationCategory
            return result
        }
    }

    private func verifyAssertion(_ sample: Sample, _ appID: AppAttestAppID) throws(SampleError) -> SampleResult {
        let pem = try sample.text("public_key_pem")
        let key: PublicKey
        do throws(CryptoError) {
            key = try PublicKey(pem: Array(pem.utf8))
        } catch {
            throw SampleError("`public_key_pem` is no public key: \(error.message)")
        }
        guard case .ec(let point) = key else { throw SampleError("`public_key_pem` is no key on P-256") }
        let expectation = AssertionExpectation(
            appID: appID, clientDataHash: try sample.bytes("client_data_hash_base64"),
            previousCounter: try sample.counter("previous_counter"))
        let outcome = AssertionVerifier().verify(
            try sample.bytes("assertion_base64"), publicKey: point, expecting: expectation)
        switch outcome {
        case .refused(let refusal): return SampleResult(sample, .refused(refusal))
        case .verified(let assertion):
            var result = SampleResult(sample, .verified)
            result.counter = assertion.counter
            result.flags = assertion.flags
            result.bundleVersion = assertion.bundleVersion
            result.validationCategory = assertion.validationCategory
            return result
        }
    }

    private func verifyReceipt(_ sample: Sample, _ appID: AppAttestAppID) throws(SampleError) -> SampleResult {
        let instant = try instant(sample.optionalText("valid_at") ?? sample.created, of: sample)
        let outcome = receipts.verify(
            try sample.bytes("receipt_base64"), expecting: ReceiptExpectation(appID: appID), at: instant)
        var result =
            if case .refused(let refusal) = outcome {
                SampleResult(sample, .refused(refusal))
            } else {
                SampleResult(sample, .verified)
            }
        result.environment = outcome.receipt?.environment
        result.receipt = outcome
        return result
    }

    /// The time that was asked for, else the sample's own.
    private func instant(_ text: String?, of sample: Sample) throws(SampleError) -> Instant {
        if let time { return time }
        return try sample.time(text)
    }
}
