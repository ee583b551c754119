public import AssayCrypto

/// A certificate of the simulated hierarchy, with the key that it is about.
public struct SimulatedAuthority: Sendable {
    /// What the certificate was made from.
    public let template: CertificateTemplate
    public let key: SimulatedKey
    /// The signed certificate.
    public let certificateDER: [UInt8]

    public init(_ template: CertificateTemplate, key: SimulatedKey) throws(CryptoError) {
        self.template = template
        self.key = key
        certificateDER = try template.signed()
    }

    /// The name that certificates under this one carry as issuer.
    public var name: NameTemplate { template.subject }

    /// The certificate as a `CERTIFICATE` block (RFC 7468).
    public var certificatePEM: String { PEMWriter.block("CERTIFICATE", certificateDER) }

    /// Another certificate for the same key, bent by `change`.
    public func reissued(_ change: (inout CertificateTemplate) -> Void) throws(CryptoError) -> SimulatedAuthority {
        var template = template
        change(&template)
        return try SimulatedAuthority(template, key: key)
    }

    /// The key identifier that the certificate and those under it carry: 20 bytes of the SHA-256 of the public point
    /// (RFC 7093, section 2, method 1).
    static func keyIdentifier(of key: SimulatedKey) -> [UInt8] {
        Array(SHA256.hash(key.point).prefix(20))
    }
}
