#if Simulator
internal import AssayCore
internal import AssayCrypto

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The service account that signs the demonstration's tokens for Fleet Engine: no cloud knows it.
struct DemoAccount: Sendable {
    static let email = "fleet-engine@example-project.iam.gserviceaccount.com"

    /// Where its key file is.
    let path: String
    private let publicKey: PublicKey

    init(folder: String) throws {
        let key = try PrivateKey.generate(.rsa(bits: 2048))
        path = "\(folder)/fleet-engine.json"
        publicKey = key.publicKey
        let file: JSON = [
            "type": "service_account", "project_id": "example-project", "private_key_id": "demo-1",
            "private_key": .string(try key.pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }),
            "client_email": .string(DemoAccount.email),
        ]
        guard
            FileManager.default.createFile(
                atPath: path, contents: Data(file.encoded), attributes: [.posixPermissions: 0o600])
        else { throw CocoaError(.fileWriteUnknown) }
    }

    /// The claims of a token that the account signed.
    func claims(of token: String) throws -> JSON {
        let signed = try CompactJWS.parse(utf8: Array(token.utf8)[...])
        try signed.verify(with: publicKey)
        return try JSON.parse(signed.payload)
    }
}
#endif
