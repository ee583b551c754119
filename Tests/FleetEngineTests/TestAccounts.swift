import AssayCore
import AssayCrypto
import AssayFleetEngine
import AssayKit

/// Key files of service accounts that no cloud knows.
enum TestAccounts {
    static let standard = Result { try File("fleet@example-project.iam.gserviceaccount.com", keyID: "0a1b2c") }
    static let other = Result { try File("server@example-project.iam.gserviceaccount.com", keyID: "3d4e5f") }

    /// One key file and its key.
    struct File: Sendable {
        let email: String
        let keyID: String
        let key: PrivateKey
        let pem: String

        init(_ email: String, keyID: String, key: PrivateKey? = nil) throws {
            self.email = email
            self.keyID = keyID
            self.key = try key ?? .generate(.rsa(bits: 2048))
            pem = String(decoding: try self.key.pem().withUnsafeBytes { Array($0) }, as: UTF8.self)
        }

        /// As Google Cloud writes it, but for members that a test sets, or leaves out by null.
        func bytes(_ members: JSON = [:]) -> [UInt8] {
            var all: [JSONMember] = [
                JSONMember("type", "service_account"), JSONMember("project_id", "example-project"),
                JSONMember("private_key_id", .string(keyID)), JSONMember("private_key", .string(pem)),
                JSONMember("client_email", .string(email)), JSONMember("client_id", "100000000000000000001"),
                JSONMember("token_uri", "https://oauth2.googleapis.com/token"),
            ]
            for member in members.members ?? [] {
                all.removeAll { $0.name == member.name }
                if member.value != .null { all.append(member) }
            }
            return JSON.object(all).encoded
        }

        func account() throws -> FleetEngineAccount {
            try FleetEngineAccount(keyFile: bytes())
        }

        /// The claims of a token that the key signed.
        func verified(_ token: String) throws -> (header: JWSHeader, claims: JSON) {
            let parts = try CompactJWS.parse(utf8: Array(token.utf8)[...])
            try parts.verify(with: key.publicKey)
            return (parts.header, try JSON.parse(parts.payload))
        }
    }
}
