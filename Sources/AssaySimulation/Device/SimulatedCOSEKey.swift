public import AssayCBOR
internal import AssayCrypto

/// A public key as credential data spells it (RFC 9053, section 7.1.1).
public struct SimulatedCOSEKey: Sendable, Equatable {
    /// The key's parameters in the order in which they are written.
    public var parameters: [CBORPair]

    /// A key of type EC2.
    ///
    /// - `curve`: 1 for P-256, 2 for P-384.
    /// - `algorithm`: −1 − n of the algorithm: 6 for ES256 (−7), 34 for ES384 (−35).
    public init(curve: UInt64, algorithm: UInt64, x: [UInt8], y: [UInt8]) {
        parameters = [
            CBORPair(.unsigned(1), .unsigned(2)),
            CBORPair(.unsigned(3), .negative(algorithm)),
            CBORPair(.negative(0), .unsigned(curve)),
            CBORPair(.negative(1), .bytes(x)),
            CBORPair(.negative(2), .bytes(y)),
        ]
    }

    /// The public half of a simulated key.
    public init(_ key: SimulatedKey) {
        switch key.curve {
        case .p256: self.init(curve: 1, algorithm: 6, x: key.x, y: key.y)
        case .p384: self.init(curve: 2, algorithm: 34, x: key.x, y: key.y)
        }
    }

    /// The key in CBOR (RFC 9052, section 7).
    public var encoded: [UInt8] { CBOREncoder().encode(.map(parameters)) }
}

extension [CBORPair] {
    /// The value under a text.
    ///
    /// Setting it replaces the pair in its place or adds one at the end; nil removes it.
    public subscript(key: String) -> CBORValue? {
        get { first { $0.key == .text(key) }?.value }
        set {
            let place = firstIndex { $0.key == .text(key) } ?? endIndex
            removeAll { $0.key == .text(key) }
            if let newValue { insert(CBORPair(.text(key), newValue), at: place) }
        }
    }
}
