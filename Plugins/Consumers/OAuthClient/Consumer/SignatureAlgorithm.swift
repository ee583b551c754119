internal import AssayCrypto

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

    /// What a list of a policy means; all of them where it is absent.
    static func algorithms(_ names: [SignatureAlgorithm]?) -> Set<JWSAlgorithm> {
        Set((names ?? allCases).map(\.algorithm))
    }
}
