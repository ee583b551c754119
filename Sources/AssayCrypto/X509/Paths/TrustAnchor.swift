/// A certification authority that is trusted because it is pinned, not because of a signature.
public struct TrustAnchor: Sendable {
    /// SHA-256 of the certificate, as fingerprints are published.
    public let fingerprint: [UInt8]
    /// The parsed certificate.
    public let certificate: Certificate
    /// The certified key, ready to verify with.
    public let key: PublicKey

    /// The certificate, in DER.
    public var encoded: [UInt8] { Array(certificate.encoded) }

    /// Reads the DER of a certification authority's certificate.
    ///
    /// The certificate's own signature is not verified: the decision to pin it is what makes it trusted.
    ///
    /// - Throws: ``CertificateError`` for bytes that are not a certificate of an accepted kind, `not_authority` for one
    ///   that may not certify others, and `key_invalid`.
    public init(der: [UInt8], accepting algorithms: Certificate.Algorithms = .all) throws(CertificateError) {
        certificate = try Certificate(der: der[...], accepting: algorithms)
        guard certificate.isAuthority, certificate.keyUsage?.contains(.certificateSigning) ?? true else {
            throw CertificateError(.notAuthority)
        }
        key = try certificate.key.publicKey()
        fingerprint = SHA256.hash(der)
    }
}
