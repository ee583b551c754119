package import AssayCrypto
package import AssayKit
internal import Synchronization

/// A team's key for the services of DeviceCheck, which a developer account gives out as a `.p8` file, and the token that
/// is made with it.
///
/// Tokens are kept for twenty minutes: Apple's servers refuse callers that make a new one for each call. All apps of a
/// team that name the same key share one, and what costs time of reading it.
package final class AppleServerKey: Sendable {
    /// How long a token is used. Apple takes them for up to an hour after `iat`.
    package static let tokenLifetime = Duration.seconds(1200)

    private let teamID: String
    private let signer: JWSSigner
    private let current = Mutex<AppleServerToken?>(nil)

    package init(teamID: String, keyID: String, key: PrivateKey) throws(CryptoError) {
        self.teamID = teamID
        signer = try JWSSigner(key: key, keyID: keyID, algorithm: .es256)
    }

    /// The key that a policy names.
    ///
    /// - Throws: what is wrong, at `key_id` or `private_key`; nothing of what is in the file.
    package static func named(
        _ keyID: String, teamID: String, privateKey: SecretReference, secrets: SecretSource
    ) throws(ConfigurationError) -> AppleServerKey {
        guard keyID.utf8.count == 10, keyID.utf8.allSatisfy(isCapitalOrDigit) else {
            throw ConfigurationError(
                at: ["key_id"], "expected the key's identifier at Apple: ten capital letters and digits")
        }
        var text = try contents(of: privateKey, secrets)
        defer { SecretBytes.wipe(&text) }
        let name = AppleServerKeys.Name(teamID: teamID, keyID: keyID, digest: SHA256.hash(text))
        return try AppleServerKeys.shared.key(name) { () throws(ConfigurationError) in
            do throws(CryptoError) {
                return try AppleServerKey(teamID: teamID, keyID: keyID, key: PrivateKey(pem: text))
            } catch {
                throw ConfigurationError(
                    at: ["private_key"], "\(privateKey) holds no P-256 private key in PEM, as Apple's .p8 files do")
            }
        }
    }

    private static func contents(
        of reference: SecretReference, _ secrets: SecretSource
    ) throws(ConfigurationError) -> [UInt8] {
        let text: [UInt8]?
        do throws(SecretError) {
            text = try secrets.resolve(reference)
        } catch {
            throw ConfigurationError(at: ["private_key"], error.message)
        }
        guard let text else { throw ConfigurationError(at: ["private_key"], "\(reference) is not set") }
        return text
    }

    /// The token to use now.
    ///
    /// - Parameter refused: one that Apple did not take; another one than that is returned.
    package func token(at now: Instant, insteadOf refused: AppleServerToken? = nil) throws(CryptoError)
        -> AppleServerToken
    {
        try current.withLock { (current: inout AppleServerToken?) throws(CryptoError) -> AppleServerToken in
            // A clock that was set back would leave a token in use for longer than Apple takes it.
            if let token = current, token != refused, token.issued <= now, now < token.issued + Self.tokenLifetime {
                return token
            }
            let claims: JSON = .object(["iss": .string(teamID), "iat": .integer(now.seconds)])
            let token = AppleServerToken(text: try signer.sign(payload: claims.encoded), issued: now)
            current = token
            return token
        }
    }

    private static func isCapitalOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
