internal import AssayCore
internal import AssayCrypto
internal import AssayJWT
internal import AssayKit

/// One entry of the section `callers` of a policy.
struct CallerConfiguration: Decodable, Sendable {
    /// The SHA-256 of the bearer token.
    let sha256: SecretDigest?
    /// Where the bearer token is stored, instead of its hash.
    let token: SecretReference?
    /// The issuer of the JWTs that the caller presents, instead of its own bearer token.
    let jwt: TrustedIssuerConfiguration?
    /// Whether the policy is valid when the token is missing: then the caller is left out.
    ///
    /// False when absent.
    let optional: Bool?
    /// What the caller may do.
    let permissions: [String]
    /// The projects, by number or ID, that the permissions are for; all projects when absent.
    let projects: [String]?

    /// A shorter token can be guessed.
    static let shortestToken = 16

    /// How a caller proves who it is.
    enum Proof {
        /// By a bearer token with this SHA-256.
        case secret([UInt8])
        /// By a JWT.
        case issuer(TrustedIssuer)
    }

    /// How the caller is recognised; nil when its optional token is not set.
    func proof(host: PluginHost) throws(ConfigurationError) -> Proof? {
        switch (sha256, token, jwt) {
        case (let digest?, nil, nil):
            return .secret(digest.bytes)
        case (nil, nil, let jwt?):
            guard jwt.subjects?.count != nil || jwt.claims?.isEmpty == false else {
                throw ConfigurationError(
                    at: ["jwt"], "without `subjects` or `claims`, every user of the issuer would be this caller")
            }
            return .issuer(try TrustedIssuer(jwt, at: ["jwt"], host: host))
        case (nil, let reference?, nil):
            let secret: [UInt8]?
            do throws(SecretError) {
                secret = try host.secrets.resolve(reference)
            } catch {
                throw ConfigurationError(at: ["token"], error.message)
            }
            guard let secret else {
                if optional == true { return nil }
                throw ConfigurationError(
                    at: ["token"], "\(reference) is not set; with `optional: true` the caller would be left out")
            }
            guard let text = String(validating: secret, as: UTF8.self), BearerToken(text) != nil,
                text.utf8.count >= CallerConfiguration.shortestToken
            else {
                throw ConfigurationError(
                    at: ["token"],
                    "\(reference) holds no bearer token: 16 characters or more, letters, digits and -._~+/=; "
                        + "`assay caller-token` makes one")
            }
            guard CallerToken.isWhole(text) != false else {
                throw ConfigurationError(
                    at: ["token"],
                    "\(reference) holds a token of `assay caller-token` that was cut or changed: its checksum is wrong")
            }
            return .secret(SHA256.hash(secret))
        default:
            throw ConfigurationError("expected one of `sha256`, `token` and `jwt`, and only one")
        }
    }
}

extension CallerConfiguration: DescribedConfiguration {
    static let keys: [ExactText: PolicyKey] = [
        "sha256": """
        The SHA-256 of the caller's bearer token, in hexadecimal; `assay caller-token` makes both. A token of less \
        than 16 characters is refused, whatever its hash is.
        """,
        "token": "Where the bearer token is stored, instead of its hash: `env:NAME` or `file:PATH`.",
        "jwt": "The issuer of the JWTs that the caller presents as bearer tokens, instead of its own.",
        "optional": PolicyKey(
            "Whether the policy is valid when the token is missing: then the caller is left out.", standard: false),
        "permissions": "What the caller may do; `admin` allows everything.",
        "projects": PolicyKey(
            "The projects, by number or ID, that the permissions are for; all projects when absent.", .notEmpty,
            examples: [["example-project"]]),
    ]

    static let alternatives = [["sha256", "token", "jwt"]]
}
