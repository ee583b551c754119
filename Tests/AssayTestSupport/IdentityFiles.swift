public import Foundation

/// The two files of a server's certificate, in a folder that is gone with this value.
public final class IdentityFiles: Sendable {
    public let folder: URL
    public var certificate: String { folder.appendingPathComponent("server.pem").path }
    public var key: String { folder.appendingPathComponent("server.key").path }

    public init(_ identity: TestIdentity) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("assay-tls-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(identity)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    public func write(_ identity: TestIdentity) throws {
        try write(certificate: identity.certificatePEM)
        try write(key: identity.keyPEM)
    }

    public func write(certificate text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: certificate))
    }

    public func write(key text: String, mode: Int = 0o600) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: key))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
    }
}
