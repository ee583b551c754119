public import AssayCore
internal import AssayCrypto

/// The part `attester`: what client attestations are like.
public struct AttesterConfiguration: Decodable, Sendable {
    /// How long attestations live; a day when absent.
    public let lifetime: Duration?
    /// `iss`, for authorization servers that speak a draft before the eighth; none when absent.
    public let issuer: String?
    /// The algorithms that clients' keys go with; `ES256` when absent.
    public let keyAlgorithms: [SignatureAlgorithm]?
    /// A separate key; the one that signs App Check tokens when absent.
    public let key: Key?

    /// A key that signs attestations only.
    public struct Key: Decodable, Sendable {
        /// Where the key is, in PEM.
        public let privateKey: SecretReference
        /// `kid`.
        public let keyID: String

        enum CodingKeys: String, CodingKey, CaseIterable {
            case privateKey = "private_key"
            case keyID = "key_id"
        }
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case lifetime = "ttl"
        case issuer
        case keyAlgorithms = "key_algorithms"
        case key
    }

    static let lives = Duration.seconds(60)...Duration.seconds(30 * 86_400)
    static let standardLifetime = Duration.seconds(86_400)
}

extension AttesterConfiguration: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "ttl": PolicyKey(
            "How long attestations live, in whole seconds; a day when absent.", .durations(lives), examples: ["24h"]),
        "issuer": PolicyKey(
            "What `iss` says, for authorization servers of drafts before the eighth; the claim is left out when absent.",
            .length(1...2048), examples: ["https://assay.example.com"]),
        "key_algorithms": PolicyKey(
            "The algorithms that clients' keys are for: ES256, ES384 or RS256.", .notEmpty, standard: ["ES256"]),
        "key": "A key that signs attestations; the one that signs App Check tokens when absent.",
    ]
}

extension AttesterConfiguration.Key: DescribedConfiguration {
    /// The keys of this part of a policy, with their descriptions.
    public static let keys: [ExactText: PolicyKey] = [
        "private_key": "The location of the key in PEM: `file:PATH` or `env:NAME`.",
        "key_id": PolicyKey("`kid` in the header of attestations.", .length(1...256), examples: ["attester-1"]),
    ]
}

/// A signature algorithm in a policy.
public enum SignatureAlgorithm: String, Decodable, Sendable, Hashable, CaseIterable {
    case rs256 = "RS256"
    case es256 = "ES256"
    case es384 = "ES384"

    var algorithm: JWSAlgorithm {
        switch self {
        case .rs256: .rs256
        case .es256: .es256
        case .es384: .es384
        }
    }

    /// The meaning of a list in a policy; all of them when it is absent.
    static func algorithms(_ names: [SignatureAlgorithm]?) -> Set<JWSAlgorithm> {
        Set((names ?? allCases).map(\.algorithm))
    }
}
