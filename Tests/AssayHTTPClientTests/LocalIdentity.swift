import AssayCore
import AssayCrypto
import AssayKit
import AssayTesting
import AssayTestingHTTP

/// An authority of this test, and a server's certificate under it.
struct LocalIdentity {
    let root: [UInt8]
    let server: LocalServer.Identity

    /// - Parameters:
    ///   - name: what the certificate is good for.
    ///   - end: the last day of the certificate, from now.
    init(for name: String = "localhost", endsAfter end: Duration = .seconds(86_400)) throws {
        let now = HostClock.system.now
        let rootKey = try SimulatedKey(.p256)
        let rootName = NameTemplate(commonName: "Assay Test Root", organization: "Example")
        let key = try SimulatedKey(.p256)
        func certificate(
            _ subject: NameTemplate, _ subjectKey: SimulatedKey, _ extensions: [ExtensionTemplate], until: Instant
        ) throws -> [UInt8] {
            try CertificateTemplate(
                serialNumber: [1, UInt8(extensions.count)], issuer: rootName, subject: subject,
                notBefore: now - .seconds(2 * 86_400), notAfter: until, publicKey: SubjectPublicKey(subjectKey),
                extensions: extensions, digest: .sha256, signer: rootKey
            ).signed()
        }
        root = try certificate(
            rootName, rootKey, [.authority(), .keyUsage(0x06, unusedBits: 1)], until: now + .seconds(86_400))
        // subjectAltName (RFC 5280, section 4.2.1.6) with one dNSName.
        let alternative = ExtensionTemplate(
            type: [2, 5, 29, 17], value: DERWriter.sequence(DERWriter.value(0x82, Array(name.utf8))))
        let leaf = try certificate(
            NameTemplate(commonName: "Assay Test Server", organization: "Example"), key,
            [.endEntity, .keyUsage(0x80, unusedBits: 7), alternative], until: now + end)
        server = LocalServer.Identity(certificates: [leaf], privateKeyPEM: try key.pem())
    }
}
