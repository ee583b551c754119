public import AssayCore
public import AssayCrypto

/// Verifies attestation objects: the nine steps of Apple, Validating Apps That Connect to Your Server, and some more.
///
/// One verifier serves any number of apps, from any number of tasks. Cheap checks come first: the signature on the
/// leaf, which takes most of the time, is the last check before the receipt.
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
        var trace = AppAttestTrace.none
        return verify(attestation, expecting: expectation, at: instant, explaining: &trace)
    }

    /// Verifies an attestation object at a point in time, and tells each check.
    public func verify(
        _ attestation: [UInt8], expecting expectation: AttestationExpectation, at instant: Instant,
        explaining trace: inout AppAttestTrace
    ) -> AttestationOutcome {
        do throws(AppAttestRefusal) {
            return .verified(try verified(attestation, expectation, at: instant, &trace))
        } catch {
            return .refused(error)
        }
    }

    /// The checks in their order.
    private static let checks: [AppAttestCheck] = [
        .evidenceSize, .evidenceForm, .authenticatorData, .appID, .counterZero, .authenticator, .environment, .leaf,
        .keyIdentifier, .credentialIdentifier, .credentialKey, .nonce, .leafPoint, .certificatePath,
    ]

    private func verified(
        _ bytes: [UInt8], _ expectation: AttestationExpectation, at instant: Instant, _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) -> VerifiedAttestation {
        trace.plan(Self.checks)
        if receipts.verifier != nil { trace.plan(ReceiptVerifier.attestationChecks(receipts.maximumAge)) }
        if receipts.refusesLegacy { trace.plan([.receiptSignedAttributes]) }
        try trace.check(
            .evidenceSize, bytes.count <= Self.byteLimit, AppAttestReasons.evidenceTooLarge,
            expected: "at most \(Self.byteLimit) bytes", found: "\(bytes.count)")
        let object = try trace.check(
            .evidenceForm, expected: "fmt, attStmt with two certificates and a receipt, authData", found: { $0.found },
            { () throws(AppAttestRefusal) in try AttestationObject(bytes, isRoot: path.isAnchor) })
        let (data, credential) = try trace.check(
            .authenticatorData, expected: "head, credential, and a map of extensions or nothing",
            found: { "\($0.data.found), credential \(Base64.encode($0.credential.credentialID))" },
            { () throws(AppAttestRefusal) -> (data: AuthenticatorData, credential: AttestedCredential) in
                let data = try AuthenticatorData(attestation: object.authenticatorData)
                guard let credential = data.credential else {
                    throw AppAttestRefusal(AppAttestReasons.attestedDataMissing)
                }
                return (data, credential)
            })
        let environment = try Self.judge(data, credential, expectation, &trace)
        let leaf = try trace.check(
            .leaf, expected: "a key on P-256, the extensions of App Attest, and on a Mac full security",
            found: { "valid from \($0.certificate.notBefore) to \($0.certificate.notAfter)" },
            { () throws(AppAttestRefusal) in try AttestedLeaf(object.leaf) })
        try Self.judge(leaf, credential, expectation, &trace)
        let nonce = SHA256.hash(object.authenticatorData, expectation.clientDataHash)
        try trace.check(
            .nonce, ConstantTime.equal(leaf.nonce, nonce), AppAttestReasons.nonceMismatch,
            expected: "\(Hex.encode(nonce)) for the client data hash \(Hex.encode(expectation.clientDataHash))",
            found: Hex.encode(leaf.nonce))
        // OpenSSL alone can say whether a point is on its curve.
        try trace.check(
            .leafPoint, (try? leaf.certificate.key.publicKey()) != nil, AppAttestReasons.leafPointInvalid,
            expected: "a point of P-256", found: Hex.encode(leaf.certificate.key.bytes))
        _ = try trace.check(
            .certificatePath, expected: "leaf, intermediate and root, each signed by the next and valid at \(instant)",
            found: { (found: String) in found },
            { () throws(AppAttestRefusal) in
                try path.verify(leaf: leaf.certificate, intermediate: object.intermediate, at: instant)
            })
        let receipt = try receiptOutcome(of: object, leaf, environment, expectation, at: instant, &trace)
        return VerifiedAttestation(
            publicKey: credential.publicKey, keyID: expectation.keyID, environment: environment, system: leaf.system,
            validationCategory: data.extensions.validationCategory, bundleVersion: data.extensions.bundleVersion,
            codeDirectoryHash: data.extensions.codeDirectoryHash,
            codeDirectoryHashType: data.extensions.codeDirectoryHashType, certifiedAppID: leaf.appID,
            flags: data.flags, counter: data.counter, notBefore: leaf.certificate.notBefore,
            notAfter: leaf.certificate.notAfter, receiptBytes: object.receipt, receipt: receipt,
            unknownMembers: object.unknown)
    }

    /// Judges the authenticator data alone.
    private static func judge(
        _ data: AuthenticatorData, _ credential: AttestedCredential, _ expectation: AttestationExpectation,
        _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) -> AppAttestEnvironment {
        try trace.check(appIDOf: data, expectation.appID)
        try trace.check(
            .counterZero, data.counter == 0, AppAttestReasons.counterNotZero, expected: "0", found: "\(data.counter)")
        let environment = try trace.check(
            .authenticator,
            expected: "one of \(AppAttestEnvironment.allCases.map { Hex.encode($0.aaguid) }.joined(separator: ", "))",
            found: { (found: AppAttestEnvironment) in "\(Hex.encode(found.aaguid)): \(found.rawValue)" },
            { () throws(AppAttestRefusal) -> AppAttestEnvironment in
                guard let environment = AppAttestEnvironment(aaguid: credential.aaguid) else {
                    throw AppAttestRefusal(AppAttestReasons.aaguidUnknown, Hex.encode(credential.aaguid))
                }
                return environment
            })
        try trace.check(
            .environment, expectation.environments.contains(environment), AppAttestReasons.environmentNotAllowed,
            expected: expectation.environments.map(\.rawValue).sortedExactly().joined(separator: " or "),
            found: environment.rawValue)
        return environment
    }

    /// A key identifier for a record; one of another length is whatever the client sent.
    private static func words(_ identifier: some Collection<UInt8>) -> String {
        identifier.count == SHA256.byteCount ? Base64.encode(identifier) : "one of \(identifier.count) bytes"
    }

    /// Judges that leaf, credential and client mean the same key.
    private static func judge(
        _ leaf: AttestedLeaf, _ credential: AttestedCredential, _ expectation: AttestationExpectation,
        _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) {
        let point = leaf.certificate.key.bytes
        let digest = SHA256.hash(point)
        try trace.check(
            .keyIdentifier, ConstantTime.equal(digest, expectation.keyID), AppAttestReasons.keyIdentifierMismatch,
            expected: Self.words(expectation.keyID), found: Base64.encode(digest))
        try trace.check(
            .credentialIdentifier, ConstantTime.equal(credential.credentialID, expectation.keyID),
            AppAttestReasons.credentialIDMismatch, expected: Self.words(expectation.keyID),
            found: Self.words(credential.credentialID))
        try trace.check(
            .credentialKey, ConstantTime.equal(credential.publicKey, point), AppAttestReasons.coseKeyMismatch,
            expected: Hex.encode(point), found: Hex.encode(credential.publicKey))
    }

    private func receiptOutcome(
        of object: AttestationObject, _ leaf: AttestedLeaf, _ environment: AppAttestEnvironment,
        _ expectation: AttestationExpectation, at instant: Instant, _ trace: inout AppAttestTrace
    ) throws(AppAttestRefusal) -> ReceiptOutcome? {
        guard let verifier = receipts.verifier else { return nil }
        let attestation = ReceiptExpectation.Attestation(
            leaf: object.leaf, leafNotBefore: leaf.certificate.notBefore, leafNotAfter: leaf.certificate.notAfter,
            clientDataHash: expectation.clientDataHash, environment: environment)
        let receiptExpectation = ReceiptExpectation(
            appID: expectation.appID, attestation: attestation, maximumAge: receipts.maximumAge)
        let outcome = verifier.judged(object.receipt, receiptExpectation, at: instant, &trace)
        guard case .required = receipts else { return outcome }
        let isLegacy: Bool
        switch outcome {
        case .verified: isLegacy = false
        case .legacy2020: isLegacy = true
        case .refused(let refusal): throw refusal
        }
        if receipts.refusesLegacy {
            try trace.check(
                .receiptSignedAttributes, !isLegacy, AppAttestReasons.receiptLegacyNotAllowed,
                expected: "a signature that covers the attributes",
                found: isLegacy ? "one that covers the content alone" : "such a signature")
        }
        return outcome
    }
}
