internal import AssayCore
internal import AssayCrypto

/// The way from a leaf to the App Attest root, over the one intermediate that evidence carries.
struct AttestationPath: Sendable {
    private let anchors: [TrustAnchor]
    private let verifier: CertificatePathVerifier

    /// A path to any of the anchors.
    ///
    /// Intermediates that verified once are remembered.
    init(anchors: [TrustAnchor]) {
        self.anchors = anchors
        verifier = CertificatePathVerifier(
            anchors: anchors,
            judgedExtensions: [
                .extendedKeyUsage, .attestationNonce, .attestedKeyProperties, .attestedKeyPolicy, .attestedSystem,
            ],
            cache: VerifiedIntermediateCache())
    }

    /// Whether a certificate is, byte by byte, one of the anchors.
    func isAnchor(_ der: ArraySlice<UInt8>) -> Bool {
        anchors.contains { $0.certificate.encoded == der }
    }

    /// Verifies that the intermediate certified the leaf, and an anchor the intermediate, and that all are valid.
    ///
    /// Returns the times of their validity in words.
    func verify(
        leaf: Certificate, intermediate der: ArraySlice<UInt8>, at instant: Instant
    ) throws(AppAttestRefusal) -> String {
        let intermediate: Certificate
        do {
            intermediate = try Certificate(der: der, accepting: .ecdsa)
        } catch {
            throw AppAttestRefusal(AppAttestReasons.intermediateMalformed, error.description)
        }
        do {
            try verifier.verify([leaf, intermediate], at: instant)
        } catch {
            throw AppAttestRefusal(Self.reason(for: error), error.description)
        }
        return "a leaf valid to \(leaf.notAfter), an intermediate valid to \(intermediate.notAfter)"
    }

    private static func reason(for error: CertificatePathError) -> Reason {
        switch (error.position, error.code) {
        case (_, .criticalExtensionUnknown): AppAttestReasons.criticalExtensionUnknown
        case (0, .leafIsAuthority): AppAttestReasons.leafIsAuthority
        case (0, .issuerMismatch): AppAttestReasons.leafNotByIntermediate
        case (0, .notYetValid): AppAttestReasons.leafNotYetValid
        case (0, .expired): AppAttestReasons.leafExpired
        case (0, _): AppAttestReasons.leafSignatureInvalid
        case (1, .signatureInvalid): AppAttestReasons.intermediateNotByRoot
        case (1, .notYetValid): AppAttestReasons.intermediateNotYetValid
        case (1, .expired): AppAttestReasons.intermediateExpired
        case (1, .keyInvalid): AppAttestReasons.intermediateMalformed
        case (1, .notAuthority), (1, .keyUsageUnfit), (_, .pathTooLong): AppAttestReasons.intermediateNotAuthority
        case (2, _): AppAttestReasons.rootNotValid
        default: AppAttestReasons.chainUntrusted
        }
    }
}
