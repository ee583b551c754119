public import AssayCore
public import AssayCrypto
internal import Synchronization

/// A team's key for the services of DeviceCheck, which a developer account provides as a `.p8` file, and the token that
/// is made with it.
///
/// Tokens are kept for twenty minutes: Apple's servers refuse callers that make a new one for each call. All apps of a
/// team that name the same key share one, and what costs time of reading it.
public final class AppleServerKey: Sendable {
    /// How long a token is used.
    ///
    /// Apple accepts them for up to an hour after `iat`.
    public static let tokenLifetime = Duration.seconds(1200)

    private let teamID: String
    private let signer: JWSSigner
    private let current = Mutex<AppleServerToken?>(nil)

    /// Checks and keeps a team's key.
    ///
    /// - `teamID`: the `iss` of tokens.
    /// - `keyID`: the `kid` of tokens.
    /// - Throws: `CryptoError` when the key is not on P-256, as ES256 demands.
    public init(teamID: String, keyID: String, key: PrivateKey) throws(CryptoError) {
        self.teamID = teamID
        signer = try JWSSigner(key: key, keyID: keyID, algorithm: .es256)
    }

    /// The key that a policy names.
    ///
    /// - Throws: the error, at `key_id` or `private_key`; nothing of the file's content.
    public static func named(
        _ keyID: String, teamID: String, privateKey: SecretReference, secrets: SecretSource
    ) throws(ConfigurationError) -> AppleServerKey {
        guard keyID.utf8.count == 10, keyID.utf8.allSatisfy(isCapitalOrDigit) else {
            throw ConfigurationError(
                at: ["key_id"], "expected the key's identifier at Apple: ten capital letters and digits")
        }
        var text: [UInt8]
        do throws(SecretError) {
            text = try secrets.pem(privateKey)
        } catch {
            throw ConfigurationError(at: ["private_key"], error.message)
        }
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

    /// The token to use now.
    ///
    /// - `refused`: a token that Apple did not accept; a different one is returned.
    public func token(at now: Instant, insteadOf refused: AppleServerToken? = nil) throws(CryptoError)
        -> AppleServerToken
    {
        try current.withLock { (current: inout AppleServerToken?) throws(CryptoError) -> AppleServerToken in
            // After a clock was set back, a token would stay in use for longer than Apple accepts it.
            if let token = current, token != refused, token.issued <= now, now < token.issued + Self.tokenLifetime {
                return token
            }
            let claims: JSON = .object(["iss": .string(teamID), "iat": .integer(now.seconds)])
            let token = AppleServerToken(text: try signer.sign(payload: claims.encoded), issued: now)
            current = token
            return token
        }
    }
}

/// A token that authorises a team's server at Apple's: ES256, with `kid`, `iss` and `iat`.
public struct AppleServerToken: Sendable, Hashable {
    /// The token in JWS compact form; a secret.
    @Exact public private(set) var text: String
    /// Its `iat`.
    public let issued: Instant
}

/// The form of the token in the header `Authorization`.
///
/// Apple's text and its samples disagree, and its servers have been seen to take both (Apple, Assessing Fraud Risk;
/// Apple, Accessing and Modifying Per-Device Data).
public enum AppleAuthorizationForm: String, Decodable, Sendable, CaseIterable {
    /// The token alone.
    case bare
    /// `Bearer `, then the token (RFC 6750).
    case bearer

    /// The value of the header.
    public func header(_ token: AppleServerToken) -> String {
        switch self {
        case .bare: token.text
        case .bearer: "Bearer \(token.text)"
        }
    }
}

/// The keys that policies in force name, so that ten thousand apps of one team read their key once.
///
/// A key is released with the last instance that uses it.
private final class AppleServerKeys: Sendable {
    struct Name: Hashable {
        @Exact private(set) var teamID: String
        @Exact private(set) var keyID: String
        /// SHA-256 of the key: another key in the same place is another key.
        let digest: [UInt8]
    }

    private struct Held {
        weak var key: AppleServerKey?
    }

    static let shared = AppleServerKeys()

    private let held = Mutex<[Name: Held]>([:])

    func key(
        _ name: Name, make: () throws(ConfigurationError) -> AppleServerKey
    ) throws(ConfigurationError) -> AppleServerKey {
        try held.withLock { (held: inout [Name: Held]) throws(ConfigurationError) -> AppleServerKey in
            if let key = held[name]?.key { return key }
            let key = try make()
            held = held.filter { $0.value.key != nil }
            held[name] = Held(key: key)
            return key
        }
    }
}
