internal import AssayCore
internal import AssayCrypto
internal import AssayVerifier

/// A service account that a policy trusts, with the means to verify its tokens.
struct ServiceAccount: Sendable {
    /// The `aud` of its tokens, the same for every server (Admin SDKs, `createToken`).
    static let audience = "https://firebaseappcheck.googleapis.com/google.firebase.appcheck.v1.TokenExchangeService"

    /// Its e-mail address.
    let email: String
    private let keys: IssuerKeys
    private let expectation: JWTExpectation

    init(
        _ configuration: CustomTokenConfiguration.ServiceAccount, at path: [ConfigurationError.Component],
        secrets: SecretSource
    ) throws(ConfigurationError) {
        var email = configuration.email
        let key: PublicKey
        switch (configuration.certificate, configuration.publicKey, configuration.keyFile) {
        case (let text?, nil, nil):
            key = try Self.explained(at: path + ["certificate"]) { () throws(CryptoError) in
                try PublicKey(certificatePEM: Array(text.utf8))
            }
        case (nil, let text?, nil):
            key = try Self.explained(at: path + ["public_key"]) { () throws(CryptoError) in
                try PublicKey(pem: Array(text.utf8))
            }
        case (nil, nil, let reference?):
            let file = try Self.keyFile(reference, at: path + ["key_file"], secrets: secrets)
            guard email.isNil || email.isExactly(file.email) else {
                throw ConfigurationError(at: path + ["email"], "\(reference) is the key of another account")
            }
            (email, key) = (file.email, file.key)
        default:
            throw ConfigurationError(at: path, "expected one of `certificate`, `public_key` and `key_file`")
        }
        guard let email else {
            throw ConfigurationError(at: path, "expected `email`, the account's address")
        }
        guard (3...320).contains(email.utf8.count), email.utf8.contains(UInt8(ascii: "@")) else {
            throw ConfigurationError(at: path + ["email"], "expected the e-mail address of a service account")
        }
        guard case .rsa = key else {
            throw ConfigurationError(
                at: path, "the account's key is not an RSA key, and its tokens are signed with RS256")
        }
        self.email = email
        keys = .fixed([JWK(key)])
        // The Admin SDKs' tokens live for five minutes.
        expectation = JWTExpectation(
            issuer: email, audiences: [ExactText(Self.audience)], longestLifetime: .seconds(300))
    }

    /// - Throws: `JWTFault` when the token is not a valid one of the account.
    func verify(_ token: UnverifiedJWT, now: Instant) async throws -> JWTClaims {
        let claims = try await keys.verify(token).claims
        try expectation.judge(claims, now: now)
        guard claims.subject.isExactly(email) else { throw JWTFault.claim("sub") }
        guard claims.issued != nil else { throw JWTFault.claim("iat") }
        return claims
    }

    func explanation(of fault: JWTFault, in token: UnverifiedJWT, now: Instant) -> String {
        guard fault == .claim("sub") else { return expectation.explanation(of: fault, in: token, now: now) }
        let subject = token.claims.subject.map { "'\(UnverifiedJWT.shortened($0))'" } ?? "missing"
        return "its 'sub' is \(subject), expected '\(email)' as in 'iss'"
    }

    /// The address and the public key in a key file (Google Cloud, "Create and delete service account keys").
    private static func keyFile(
        _ reference: SecretReference, at path: [ConfigurationError.Component], secrets: SecretSource
    ) throws(ConfigurationError) -> (email: String, key: PublicKey) {
        var bytes: [UInt8]
        do throws(SecretError) {
            bytes = try secrets.json(reference)
        } catch {
            throw ConfigurationError(at: path, error.message)
        }
        defer { SecretBytes.wipe(&bytes) }
        guard let file = try? JSON.parse(bytes, limits: JSON.Limits(bytes: 65_536)),
            let email = file["client_email"]?.string, let pem = file["private_key"]?.string
        else {
            throw ConfigurationError(at: path, "\(reference) holds no key file of a service account")
        }
        let text: [UInt8]
        do throws(SecretError) {
            text = try SecretText.pem(Array(pem.utf8))
        } catch {
            throw ConfigurationError(at: path, "the key cannot be used: \(error.message)")
        }
        let key = try explained(at: path) { () throws(CryptoError) in try PrivateKey(pem: text) }
        return (email, key.publicKey)
    }

    private static func explained<Value>(
        at path: [ConfigurationError.Component], _ operation: () throws(CryptoError) -> Value
    ) throws(ConfigurationError) -> Value {
        do throws(CryptoError) {
            return try operation()
        } catch {
            throw ConfigurationError(at: path, "the key cannot be used: \(error.message)")
        }
    }
}

/// Whose custom tokens are accepted for an app.
enum CustomTokenSigner: Sendable {
    case account(ServiceAccount)
    /// An issuer, and the path of the claim that names the app.
    case issuer(TrustedIssuer, appClaim: String)

    /// The path of the claim that names the app.
    var appClaim: String {
        switch self {
        case .account: "app_id"
        case .issuer(_, let appClaim): appClaim
        }
    }

    /// - Throws: `JWTFault` when the token is invalid; `KeysUnavailable` when that cannot be decided now.
    func verify(_ token: UnverifiedJWT, now: Instant) async throws -> JWTClaims {
        switch self {
        case .account(let account): try await account.verify(token, now: now)
        case .issuer(let issuer, _): try await issuer.verify(token, now: now)
        }
    }

    func explanation(of fault: JWTFault, in token: UnverifiedJWT, now: Instant) -> String {
        switch self {
        case .account(let account): account.explanation(of: fault, in: token, now: now)
        case .issuer(let issuer, _): issuer.explanation(of: fault, in: token, now: now)
        }
    }
}
