public import AssayCore

/// How tokens are signed: the section `tokens`, which may be in only one file.
public struct TokenPolicy: DescribedConfiguration, Sendable, Hashable {
    /// The signature algorithms that clients of App Check can verify.
    @nonexhaustive public enum Algorithm: String, Decodable, Sendable, Hashable, CaseIterable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    /// The signature algorithm of new tokens.
    public var algorithm: Algorithm
    /// The size of RSA keys: 2048 or 3072; not used for ES256.
    public var rsaBits: Int

    enum CodingKeys: String, CodingKey, CaseIterable {
        case algorithm
        case rsaBits = "rsa_bits"
    }

    /// The keys of the section, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "algorithm": PolicyKey(
            "The signature's algorithm. The Firebase Admin SDKs verify RS256 only.",
            standard: .string(TokenPolicy().algorithm.rawValue)),
        "rsa_bits": PolicyKey(
            "The size of RSA keys, with RS256 only.", .oneOf([2048, 3072]),
            standard: .integer(Int64(TokenPolicy().rsaBits))
        ).enforced(),
    ]

    /// Makes settings; the defaults are those of a policy without the section.
    public init(algorithm: Algorithm = .rs256, rsaBits: Int = 2048) {
        self.algorithm = algorithm
        self.rsaBits = rsaBits
    }

    /// Decodes the section.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init()
        if let stated = try values.decodeIfPresent(Algorithm.self, forKey: .algorithm) { algorithm = stated }
        if let stated = try values.decodeIfPresent(Int.self, forKey: .rsaBits) { rsaBits = stated }
    }
}
