/// A certification authority that is trusted because it is pinned, not because somebody signed it.
public struct TrustAnchor: Sendable {
    /// SHA-256 of the certificate, as fingerprints are published.
    public let fingerprint: [UInt8]
    /// The certificate, in DER.
    public var encoded: [UInt8] { Array(certificate.encoded) }
    /// The certificate, taken apart.
    package let certificate: Certificate
    /// The key in it, ready to verify with.
    package let key: ECPublicKey

    /// Takes the DER of a certification authority's certificate.
    ///
    /// The certificate's own signature is not verified: an anchor is trusted for what it is.
    public init(der: [UInt8]) throws(CertificateError) {
        certificate = try Certificate(der: der[...])
        guard certificate.isAuthority, certificate.keyUsage?.contains(.certificateSigning) ?? true else {
            throw CertificateError(.notAuthority)
        }
        key = try certificate.key.publicKey()
        fingerprint = SHA256.hash(der)
    }
}
