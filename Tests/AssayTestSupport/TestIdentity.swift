internal import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayTesting
public import NIOSSL

/// A certificate for `localhost` and its key, as text.
public struct TestIdentity: Sendable {
    /// The certificate in PEM.
    public let certificatePEM: String
    /// The private key in PEM.
    public let keyPEM: String

    /// A self-signed certificate.
    ///
    /// - Parameters:
    ///   - begin: its first moment, from now.
    ///   - end: its last moment, from now.
    public init(from begin: Duration = .seconds(-86_400), until end: Duration = .seconds(86_400)) throws {
        let now = HostClock.system.now
        let key = try SimulatedKey(.p256)
        let name = NameTemplate(commonName: "Assay Test Server", organization: "Example")
        // subjectAltName (RFC 5280, section 4.2.1.6) with one dNSName.
        let alternative = ExtensionTemplate(
            type: [2, 5, 29, 17], value: DERWriter.sequence(DERWriter.value(0x82, Array("localhost".utf8))))
        let der = try CertificateTemplate(
            serialNumber: Array(UInt64.random(in: 1...(.max >> 1)).bigEndianBytes), issuer: name, subject: name,
            notBefore: now + begin, notAfter: now + end, publicKey: SubjectPublicKey(key),
            extensions: [.authority(), .keyUsage(0x86, unusedBits: 1), alternative], digest: .sha256, signer: key
        ).signed()
        certificatePEM = "-----BEGIN CERTIFICATE-----\n\(Base64.encode(der))\n-----END CERTIFICATE-----\n"
        keyPEM = try key.pem()
    }

    /// What a client needs to trust it, and no other.
    public func clientContext(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8)))
        change(&configuration)
        return try NIOSSLContext(configuration: configuration)
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }
}
