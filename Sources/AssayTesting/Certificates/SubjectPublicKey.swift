internal import AssayCrypto

/// What a certificate says its public key is; nothing checks that the point lies on the curve.
public struct SubjectPublicKey: Sendable, Equatable {
    /// The arcs of the named curve.
    public var curve: [UInt64]
    /// The point, as X9.63 writes it: 04, x, y.
    public var point: [UInt8]

    public init(curve: [UInt64], point: [UInt8]) {
        self.curve = curve
        self.point = point
    }

    /// The public half of a simulated key.
    public init(_ key: SimulatedKey) {
        self.init(curve: Self.arcs(of: key.curve), point: key.point)
    }

    /// The DER of the SubjectPublicKeyInfo (RFC 5480, section 2).
    public var derBytes: [UInt8] {
        DERWriter.sequence(
            DERWriter.sequence(
                DERWriter.objectIdentifier(ObjectIdentifiers.ecPublicKey), DERWriter.objectIdentifier(curve)),
            DERWriter.bitString(point))
    }

    static func arcs(of curve: EllipticCurve) -> [UInt64] {
        switch curve {
        case .p256: ObjectIdentifiers.p256
        case .p384: ObjectIdentifiers.p384
        }
    }
}
