public import AssayCore

/// The protected header of a token (RFC 7515, section 4), of which only these members mean anything here.
///
/// Members that bring or point to a key (`jwk`, `jku`, `x5c`, `x5u`) are not looked at: keys come from policy.
public struct JWSHeader: Sendable, Hashable {
    /// How the token is signed.
    public let algorithm: JWSAlgorithm
    /// Which key signed it; nil when the header does not say.
    @Exact public private(set) var keyID: String?
    /// What the token is, commonly `JWT`; nil when the header does not say.
    @Exact public private(set) var type: String?

    init(algorithm: JWSAlgorithm, keyID: String?, type: String?) {
        self.algorithm = algorithm
        self.keyID = keyID
        self.type = type
    }

    /// Reads a header: one JSON object, no member twice (RFC 7515, section 4).
    init(json bytes: [UInt8]) throws(JWSError) {
        let limits = JSON.Limits(bytes: 4096, depth: 8, values: 256, allowsRepeatedNames: false)
        let json: JSON
        do throws(JSONError) {
            json = try JSON.parse(bytes, limits: limits)
        } catch {
            throw .malformed(.header)
        }
        guard json.members != nil else { throw .malformed(.header) }
        guard json["crit"] == nil else { throw .malformed(.critical) }
        guard let name = json["alg"]?.string else { throw .malformed(.header) }
        guard let algorithm = JWSAlgorithm(exactly: name) else { throw .unsupportedAlgorithm }
        self.algorithm = algorithm
        keyID = try Self.text("kid", of: json)
        type = try Self.text("typ", of: json)
    }

    /// The header in the one order of members that Assay's signers write.
    static func encoded(keyID: String, algorithm: JWSAlgorithm, type: String = "JWT") -> [UInt8] {
        let json: JSON = .object(["kid": .string(keyID), "typ": .string(type), "alg": .string(algorithm.rawValue)])
        var text: [UInt8] = []
        Base64URL.append(json.encoded, to: &text)
        return text
    }

    private static func text(_ name: String, of json: JSON) throws(JWSError) -> String? {
        guard let value = json[name] else { return nil }
        guard let text = value.string else { throw .malformed(.header) }
        return text
    }
}

/// The signature algorithms of tokens (RFC 7518, section 3.1).
///
/// `none` is not supported.
@nonexhaustive public enum JWSAlgorithm: String, Sendable, Hashable, CaseIterable {
    /// RSASSA-PKCS1-v1_5 with SHA-256.
    case rs256 = "RS256"
    /// ECDSA on P-256 with SHA-256.
    case es256 = "ES256"
    /// ECDSA on P-384 with SHA-384.
    case es384 = "ES384"

    /// The only algorithm of a key: a header cannot choose another.
    public init(for key: PublicKey) {
        switch key {
        case .rsa: self = .rs256
        case .ec(let key):
            switch key.curve {
            case .p256: self = .es256
            case .p384: self = .es384
            }
        }
    }

    var digest: DigestAlgorithm {
        switch self {
        case .rs256, .es256: .sha256
        case .es384: .sha384
        }
    }
}
