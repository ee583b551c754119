package import AssayCore
internal import AssayCrypto
internal import AssayKit
internal import AssayVerifier

/// One entry of the section `callers` of a policy.
package struct CallerConfiguration: Decodable, Sendable {
    /// The SHA-256 of the bearer token.
    let sha256: SecretDigest?
    /// Where the bearer token is stored, instead of its hash.
    package let token: SecretReference?
    /// Several bearer tokens, each with a name, so that one can be replaced without a gap.
    let tokens: [CallerTokenConfiguration]?
    /// The issuer of the JWTs that the caller presents, instead of its own bearer token.
    let jwt: TrustedIssuerConfiguration?
    /// Whether the policy is valid when the token is missing: then the caller is left out.
    ///
    /// False when absent.
    package let optional: Bool?
    /// What the caller may do.
    package let permissions: [String]
    /// The projects, by number or ID, that the permissions are for; all projects when absent.
    package let projects: [String]?

    /// A shorter token can be guessed.
    static let shortestToken = 16
    /// The most tokens of one caller: the present ones, and those that replace them.
    static let tokenLimit = 8

    /// How a caller proves who it is.
    enum Proof {
        /// By one of these bearer tokens; none when its optional ones are not set.
        case tokens([BearerProof])
        /// By a JWT.
        case issuer(TrustedIssuer)
    }

    /// When the last of its tokens ends; nil for never, or where that is not known.
    package var end: Instant? {
        guard let tokens, !tokens.isEmpty else { return nil }
        let ends = tokens.compactMap(\.expires)
        return ends.count == tokens.count ? ends.max() : nil
    }

    /// How the caller is recognised.
    func proof(host: PluginHost) throws(ConfigurationError) -> Proof {
        switch (sha256, token, jwt, tokens) {
        case (let digest?, nil, nil, nil):
            return .tokens([BearerProof(hash: digest.bytes)])
        case (nil, nil, let jwt?, nil):
            guard jwt.subjects?.count != nil || jwt.claims?.isEmpty == false else {
                throw ConfigurationError(
                    at: ["jwt"], "without `subjects` or `claims`, every user of the issuer would be this caller")
            }
            return .issuer(try TrustedIssuer(jwt, at: ["jwt"], host: host))
        case (nil, let reference?, nil, nil):
            let hash = try Self.hash(of: reference, isOptional: optional == true, at: ["token"], host: host)
            return .tokens(hash.map { [BearerProof(hash: $0)] } ?? [])
        case (nil, nil, nil, let tokens?):
            return .tokens(try Self.proofs(tokens, isOptional: optional == true, host: host))
        default:
            throw ConfigurationError("expected one of `sha256`, `token`, `tokens` and `jwt`, and only one")
        }
    }

    private static func proofs(
        _ tokens: [CallerTokenConfiguration], isOptional: Bool, host: PluginHost
    ) throws(ConfigurationError) -> [BearerProof] {
        var problems = ConfigurationProblems()
        if tokens.isEmpty { problems.report(at: ["tokens"], "without a token nobody is this caller") }
        if tokens.count > tokenLimit { problems.report(at: ["tokens"], "a caller has at most \(tokenLimit) tokens") }
        var proofs: [BearerProof] = []
        for (index, token) in tokens.prefix(tokenLimit).enumerated() {
            let place: [ConfigurationError.Component] = ["tokens", .index(index)]
            if !isName(token.name) {
                problems.report(at: place + ["name"], "a token's name is 1 to 64 letters, digits, `-`, `.` and `_`")
            } else if proofs.contains(where: { $0.name == ExactText(token.name) }) {
                problems.report(at: place + ["name"], "another token of the caller has the name `\(token.name)`")
            }
            let hash = problems.attempt { () throws(ConfigurationError) -> [UInt8]? in
                switch (token.sha256, token.token) {
                case (let digest?, nil): digest.bytes
                case (nil, let reference?):
                    try Self.hash(of: reference, isOptional: isOptional, at: place + ["token"], host: host)
                default: throw ConfigurationError(at: place, "expected either `sha256` or `token`")
                }
            }
            guard case let hash?? = hash else { continue }
            proofs.append(BearerProof(hash: hash, name: ExactText(token.name), expires: token.expires))
        }
        try problems.throwIfAny()
        return proofs
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { $0.isASCIILetterOrDigit || "-._".utf8.contains($0) }
    }

    /// The SHA-256 of a token that a reference leads to; nil when it is not set and may be missing.
    private static func hash(
        of reference: SecretReference, isOptional: Bool, at place: [ConfigurationError.Component], host: PluginHost
    ) throws(ConfigurationError) -> [UInt8]? {
        let secret: [UInt8]?
        do throws(SecretError) {
            secret = try host.secrets.resolve(reference)
        } catch {
            throw ConfigurationError(at: place, error.message)
        }
        guard let secret else {
            if isOptional { return nil }
            throw ConfigurationError(
                at: place, "\(reference) is not set; with `optional: true` the caller would be left out")
        }
        guard let text = String(validating: secret, as: UTF8.self), BearerToken(text) != nil,
            text.utf8.count >= CallerConfiguration.shortestToken
        else {
            throw ConfigurationError(
                at: place,
                "\(reference) holds no bearer token: 16 characters or more, letters, digits and -._~+/=; "
                    + "`assay caller-token` makes one")
        }
        guard CallerToken.isWhole(text) != false else {
            throw ConfigurationError(
                at: place,
                "\(reference) holds a token of `assay caller-token` that was cut or changed: its checksum is wrong")
        }
        return SHA256.hash(secret)
    }
}

/// A bearer token that a caller is recognised by.
struct BearerProof: Sendable {
    /// The SHA-256 of the token.
    let hash: [UInt8]
    /// The name of the token, for records; nil for a caller with one token.
    var name: ExactText?
    /// When the token ends; nil for never.
    var expires: Instant?
}

/// One of several bearer tokens of a caller: an entry of `tokens`.
struct CallerTokenConfiguration: Decodable, Sendable {
    /// The name of the token, for records.
    let name: String
    /// The SHA-256 of the token.
    let sha256: SecretDigest?
    /// Where the token is stored, instead of its hash.
    let token: SecretReference?
    /// When the token ends; never when absent.
    let expires: Instant?
}

extension CallerTokenConfiguration: DescribedConfiguration {
    static let keys: [ExactText: PolicyKey] = [
        "name": PolicyKey("The name of the token in audit records.", examples: ["2026-11"]),
        "sha256": "The SHA-256 of the token, in hexadecimal; `assay caller-token` makes both.",
        "token": "Where the token is stored, instead of its hash: `env:NAME` or `file:PATH`.",
        "expires": PolicyKey(
            "When the token ends; the caller's other tokens continue. Never when absent.",
            examples: ["2027-01-01T00:00:00Z"]),
    ]

    static let alternatives = [["sha256", "token"]]
}

extension CallerConfiguration: DescribedConfiguration {
    package static let keys: [ExactText: PolicyKey] = [
        "sha256": """
        The SHA-256 of the caller's bearer token, in hexadecimal; `assay caller-token` makes both. A token of less \
        than 16 characters is refused, whatever its hash is.
        """,
        "token": "Where the bearer token is stored, instead of its hash: `env:NAME` or `file:PATH`.",
        "tokens":
            "Several bearer tokens, each with a name and perhaps an end, instead of one: so one can be replaced without a gap.",
        "jwt": "The issuer of the JWTs that the caller presents as bearer tokens, instead of its own.",
        "optional": PolicyKey(
            "Whether the policy is valid when the token is missing: then the caller is left out.", standard: false),
        "permissions": "What the caller may do; `admin` allows everything.",
        "projects": PolicyKey(
            "The projects, by number or ID, that the permissions are for; all projects when absent.", .notEmpty,
            examples: [["example-project"]]),
    ]

    package static let alternatives = [["sha256", "token", "tokens", "jwt"]]
}
