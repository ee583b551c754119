public import Foundation

/// The two files of a server's certificate, in a folder that is gone with this value.
public final class IdentityFiles: Sendable {
    /// The folder of both files.
    public let folder: URL
    /// The path of the certificate.
    public var certificate: String { folder.appendingPathComponent("server.pem").path }
    /// The path of the private key.
    public var key: String { folder.appendingPathComponent("server.key").path }

    /// Makes the folder and writes both files.
    public init(_ identity: TestIdentity) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(identity)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Replaces both files.
    public func write(_ identity: TestIdentity) throws {
        try write(certificate: identity.certificatePEM)
        try write(key: identity.keyPEM)
    }

    /// Replaces the certificate.
    public func write(certificate text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: certificate))
    }

    /// Replaces the private key, and sets the mode of its file.
    public func write(key text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: key))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
    }
}
