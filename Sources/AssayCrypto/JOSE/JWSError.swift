/// Why a token in JWS compact form is refused.
public enum JWSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is not three parts of unpadded base64url with a JSON object in front, or it is larger than 16 KiB.
    case malformed(Defect)
    /// Its `alg` is `none` or unknown.
    case unsupportedAlgorithm
    /// No key has its `kid`, or it names none.
    case unknownKey
    /// Its `alg` is not the one that goes with the key.
    case algorithmMismatch
    /// The signature is not the key's over these bytes.
    case badSignature

    /// What is malformed.
    public enum Defect: String, Sendable, Hashable {
        case tooLarge = "larger than 16 KiB"
        case parts = "not three parts"
        case encoding = "not unpadded base64url"
        case header = "a header that is not one JSON object of the right members"
        case critical = "an extension that must be understood"
    }

    /// A stable name for logs and metrics.
    public var code: String {
        switch self {
        case .malformed: "malformed"
        case .unsupportedAlgorithm: "unsupported_algorithm"
        case .unknownKey: "unknown_key"
        case .algorithmMismatch: "algorithm_mismatch"
        case .badSignature: "bad_signature"
        }
    }

    public var description: String {
        if case .malformed(let defect) = self { "malformed: \(defect.rawValue)" } else { code }
    }
}
