internal import AssayCore
internal import AssayCrypto

/// The errors of a JWT.
///
/// Callers map each case to a reason of their own.
public enum JWTFault: Error, Sendable, Equatable {
    /// Not a JWT, or one whose claims have the wrong types.
    case malformed
    /// An unsupported signature algorithm, or one that does not match the key.
    case algorithm
    /// No key of the issuer has the token's key identifier.
    case keyUnknown
    case signature
    /// `typ` is present and has a wrong value.
    case type
    case issuer
    case audience
    case expired
    /// `nbf` or `iat` is in the future.
    case notYetValid
    /// `exp` is further away from `iat`, or from now, than the issuer may grant.
    case lifeTooLong
    /// A required claim is missing, or has a wrong value.
    case claim(String)

    /// Whether both are the same fault, and about the same claim.
    public static func == (left: JWTFault, right: JWTFault) -> Bool {
        switch (left, right) {
        case (.claim(let left), .claim(let right)): left.isExactly(right)
        default: left.position == right.position
        }
    }

    /// Its place among the cases.
    private var position: Int {
        switch self {
        case .malformed: 0
        case .algorithm: 1
        case .keyUnknown: 2
        case .signature: 3
        case .type: 4
        case .issuer: 5
        case .audience: 6
        case .expired: 7
        case .notYetValid: 8
        case .lifeTooLong: 9
        case .claim: 10
        }
    }

    init(_ error: JWSError) {
        self =
            switch error {
            case .malformed: .malformed
            case .unsupportedAlgorithm, .algorithmMismatch: .algorithm
            case .unknownKey: .keyUnknown
            case .badSignature: .signature
            }
    }
}
