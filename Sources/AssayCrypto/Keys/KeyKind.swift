/// The kinds of key that are generated and imported.
public enum KeyKind: Sendable, Hashable, CustomStringConvertible {
    /// RSA with a modulus of so many bits.
    case rsa(bits: Int)
    /// A key on an elliptic curve.
    case ec(EllipticCurve)

    public var description: String {
        switch self {
        case .rsa(let bits): "RSA-\(bits)"
        case .ec(let curve): curve.jwkName
        }
    }
}
