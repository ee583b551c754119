import AssayCrypto
import AssayHTTP
import AssayKit
import AssayTesting
import Foundation
import NIOSSL

/// A certificate for `localhost` and its key, as text and in a folder of their own.
struct TestIdentity {
    let certificatePEM: String
    let keyPEM: String

    /// A self-signed certificate.
    ///
    /// - Parameters:
    ///   - begin: its first moment, from now.
    ///   - end: its last moment, from now.
    init(from begin: Duration = .seconds(-86_400), until end: Duration = .seconds(86_400)) throws {
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

    /// What a client needs to trust it.
    func clientContext(_ change: (inout TLSConfiguration) -> Void = { _ in }) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(certificatePEM.utf8)))
        change(&configuration)
        return try NIOSSLContext(configuration: configuration)
    }
}

/// The two files of a server's certificate, in a folder that is gone with this value.
final class IdentityFiles {
    let folder: URL
    var certificate: String { folder.appendingPathComponent("server.pem").path }
    var key: String { folder.appendingPathComponent("server.key").path }

    init(_ identity: TestIdentity) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(identity)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func write(_ identity: TestIdentity) throws {
        try write(certificate: identity.certificatePEM)
        try write(key: identity.keyPEM)
    }

    func write(certificate text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: certificate))
    }

    func write(key text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: key))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
    }

    func open() throws(TLSError) -> ServerCertificate {
        try ServerCertificate(certificateFile: certificate, keyFile: key)
    }
}

extension UInt64 {
    fileprivate var bigEndianBytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * $0)) } }
}
