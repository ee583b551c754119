public import AssayCore
internal import AssayCrypto
internal import AssayKit

/// The section `privacy_pass` of a policy: whose tokens are accepted for an app, and for which origins they must be made.
public struct PrivacyPassConfiguration: Decodable, Sendable, DescribedConfiguration {
    /// The issuers, 1 to 8.
    public let issuers: [Issuer]
    /// The names of the origin that tokens must be made for: `origin_info` of challenges.
    public let origins: [HostName]
    /// The kinds of challenges whose tokens are accepted; `per_challenge` when absent.
    public let contexts: [Context]?

    /// What the `redemption_context` of a challenge is.
    public enum Context: String, Decodable, Sendable, CaseIterable {
        /// SHA-256 of a challenge that this server made for the app: each token is made for one exchange.
        case perChallenge = "per_challenge"
        /// Nothing: a client may keep tokens, and each is good once.
        case none
    }

    /// An issuer and its keys.
    public struct Issuer: Decodable, Sendable, DescribedConfiguration {
        /// `issuer_name` of its challenges: a host.
        public let name: HostName
        /// Its keys, 1 to 4; the first that has not ended is named in challenges.
        public let keys: [Key]

        /// The keys of this part of a policy, with their descriptions.
        public static let keys: [ExactText: PolicyKey] = [
            "name": PolicyKey(
                "The issuer's name: its host, as in its challenges.", examples: ["issuer.example.com"]),
            "keys": PolicyKey(
                "The issuer's public keys, 4 at most. Clients are told of the first one that has not ended.", .notEmpty),
        ]
    }

    /// A key of an issuer.
    public struct Key: Decodable, Sendable, DescribedConfiguration {
        /// The key as the issuer's directory has it.
        public let tokenKey: String?
        /// Where the key is in PEM.
        public let file: SecretReference?
        /// From when on tokens by the key are refused; never when absent.
        public let until: Instant?

        enum CodingKeys: String, CodingKey, CaseIterable {
            case tokenKey = "token_key"
            case file, until
        }

        /// The keys of this part of a policy, with their descriptions.
        public static let keys: [ExactText: PolicyKey] = [
            "token_key": """
            The key as the issuer's directory has it in `token-key`: a SubjectPublicKeyInfo with id-RSASSA-PSS, in Base 64.
            """,
            "file":
                "The location of the key in PEM (`BEGIN PUBLIC KEY`): `file:PATH` or `env:NAME`.",
            "until": "The time from which tokens by the key are refused (RFC 3339); never when absent.",
        ]

        /// Groups of keys of which exactly one must be present.
        public static let alternatives = [["token_key", "file"]]
    }

    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "issuers": PolicyKey("The issuers whose tokens are accepted, 8 at most.", .notEmpty),
        "origins": PolicyKey(
            "The names of the origin that tokens must be made for: hosts, 16 at most, as clients know this server.",
            .notEmpty, examples: [["app.example.com"]]),
        "contexts": PolicyKey(
            """
            The kinds of tokens that are accepted: `per_challenge` for tokens that are made for a challenge of this server, `none` for \
            tokens that clients keep.
            """, .notEmpty, standard: ["per_challenge"]),
    ]

    static let issuerLimit = 8
    static let keyLimit = 4
    private static let originLimit = 16

    /// `origin_info`: the names with commas between them (RFC 9577, section 2.1.1).
    func checkedOrigins(_ problems: inout ConfigurationProblems) -> String {
        if !(1...Self.originLimit).contains(origins.count) {
            problems.report(
                at: ["origins"], "expected 1 to \(Self.originLimit) hosts: otherwise other sites' tokens pass")
        }
        for (index, origin) in origins.enumerated() where origins[..<index].contains(origin) {
            problems.report(at: ["origins", .index(index)], "it is repeated here")
        }
        return origins.map(\.text).joined(separator: ",")
    }
}

/// An issuer that a policy names.
struct PrivacyPassIssuer: Sendable {
    /// A key, and when it ends.
    struct Key: Sendable {
        let key: BlindRSAPublicKey
        let end: Instant?
    }

    let name: String
    let keys: [Key]
    private let origins: String

    init(
        _ configuration: PrivacyPassConfiguration.Issuer, origins: String, at path: [ConfigurationError.Component],
        host: PluginHost
    ) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        if !(1...PrivacyPassConfiguration.keyLimit).contains(configuration.keys.count) {
            problems.report(at: path + ["keys"], "expected 1 to \(PrivacyPassConfiguration.keyLimit) keys")
        }
        var keys: [Key] = []
        for (index, section) in configuration.keys.enumerated() {
            let key = problems.attempt { () throws(ConfigurationError) in
                try Self.key(section, at: path + ["keys", .index(index)], host: host)
            }
            if let key { keys.append(key) }
        }
        try problems.throwIfAny()
        (name, self.keys, self.origins) = (configuration.name.text, keys, origins)
    }

    private static func key(
        _ section: PrivacyPassConfiguration.Key, at path: [ConfigurationError.Component], host: PluginHost
    ) throws(ConfigurationError) -> Key {
        let der: [UInt8]
        let place: [ConfigurationError.Component]
        // A key as OpenSSL derives it from the private one, without the parameters of blind signatures.
        var plain: PublicKey?
        switch (section.tokenKey, section.file) {
        case (let text?, nil):
            place = path + ["token_key"]
            guard text.utf8.count <= 1024, let bytes = Base64.decode(text) else {
                throw ConfigurationError(at: place, "expected Base 64")
            }
            der = bytes
        case (nil, let reference?):
            place = path + ["file"]
            do {
                let pem = try host.secrets.pem(reference, isSecret: false)
                der = try PEM.decode("PUBLIC KEY", in: pem)
                plain = try? PublicKey(pem: pem)
            } catch let error as SecretError {
                throw ConfigurationError(at: place, error.message)
            } catch {
                throw ConfigurationError(at: place, "\(reference) holds no public key in PEM")
            }
        default:
            throw ConfigurationError(at: path, "expected one of `token_key` and `file`")
        }
        do throws(CryptoError) {
            let key =
                if case .rsa(let numbers)? = plain {
                    BlindRSAPublicKey(numbers)
                } else {
                    try BlindRSAPublicKey(subjectPublicKeyInfo: der)
                }
            guard key.key.bitCount == PrivateToken.keyBits else {
                throw CryptoError(
                    .unsupportedKey, "a modulus of \(key.key.bitCount) bits, expected \(PrivateToken.keyBits)")
            }
            return Key(key: key, end: section.until)
        } catch {
            throw ConfigurationError(at: place, "the key cannot be used: \(error.message)")
        }
    }

    /// The `TokenChallenge` (RFC 9577, section 2.1.1).
    ///
    /// - Parameter redemption: `redemption_context`: 32 bytes, or none.
    func challenge(redemption: [UInt8]) -> [UInt8] {
        func counted(_ text: String) -> [UInt8] { UInt64(text.utf8.count).bigEndianBytes.suffix(2) + Array(text.utf8) }
        return PrivateToken.type + counted(name) + [UInt8(clamping: redemption.count)] + redemption + counted(origins)
    }

    func challengeDigest(redemption: [UInt8]) -> [UInt8] { SHA256.hash(challenge(redemption: redemption)) }

    /// The value of `WWW-Authenticate` that asks for a token (RFC 9577, section 2.1); nil when all keys have ended.
    func invitation(redemption: [UInt8], at now: Instant) -> String? {
        guard let key = keys.first(where: { key in key.end.map { now < $0 } ?? true }) else { return nil }
        let challenge = Self.padded(challenge(redemption: redemption))
        return "PrivateToken challenge=\"\(challenge)\", token-key=\"\(Self.padded(key.key.subjectPublicKeyInfo))\""
    }

    /// Base 64 for URLs with padding, as RFC 9577 wants it.
    private static func padded(_ bytes: [UInt8]) -> String {
        let text = Base64.encodeURL(bytes)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
