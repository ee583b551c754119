internal import AssayKit

/// The curves that are used here: P-256 for devices and tokens, P-384 for Apple's certification authorities.
public enum EllipticCurve: Sendable, Hashable, CaseIterable {
    /// NIST P-256 (secp256r1, prime256v1).
    case p256
    /// NIST P-384 (secp384r1).
    case p384

    /// The length of a coordinate, and of each half of a raw signature, in bytes.
    public var coordinateSize: Int {
        switch self {
        case .p256: 32
        case .p384: 48
        }
    }

    /// The curve's name in a JWK (RFC 7518, section 6.2.1.1).
    public var jwkName: String {
        switch self {
        case .p256: "P-256"
        case .p384: "P-384"
        }
    }

    /// The curve's name in OpenSSL.
    var groupName: String {
        switch self {
        case .p256: "prime256v1"
        case .p384: "secp384r1"
        }
    }

    init?(groupName: String) {
        if ["prime256v1", "P-256"].contains(exactly: groupName) {
            self = .p256
        } else if ["secp384r1", "P-384"].contains(exactly: groupName) {
            self = .p384
        } else {
            return nil
        }
    }
}
