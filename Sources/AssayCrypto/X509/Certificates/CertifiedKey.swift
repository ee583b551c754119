/// The public key in a certificate: its kind and its bytes.
///
/// Whether they are a usable key, ``publicKey()`` says.
public struct CertifiedKey: Sendable, Hashable {
    /// The curve, or the length of the RSA modulus; nil for a key of another kind.
    public let kind: KeyKind?
    /// What its algorithm is.
    public let algorithm: OID
    /// The content of `subjectPublicKey` (RFC 5280, section 4.1.2.7).
    ///
    /// On a curve it is the uncompressed point `04 ‖ x ‖ y` (SEC 1, section 2.3.3), of the length that the curve
    /// requires. For RSA it is the DER of `RSAPublicKey` (RFC 8017, appendix A.1.1). For other keys it is not looked at.
    public let bytes: ArraySlice<UInt8>

    /// Reads `SubjectPublicKeyInfo`; throws ``ASN1Error`` or ``CertificateError``.
    init(reading certificate: inout DERReader, _ accepted: Certificate.Algorithms) throws {
        var fields = try certificate.next(.sequence).reader
        var algorithm = try fields.next(.sequence).reader
        let identifier = try algorithm.objectIdentifier()
        self.algorithm = identifier
        let curve = try algorithm.nextIfPresent(.objectIdentifier)
        bytes = try fields.octetsOfBitString()
        try fields.finish()
        if identifier == .rsaEncryption, curve == nil {
            guard accepted.contains(.rsa) else { throw CertificateError(.keyUnsupported) }
            // The parameters must be NULL (RFC 3279, section 2.3.1).
            try algorithm.null()
            try algorithm.finish()
            kind = .rsa(bits: try Self.numbers(of: bytes).bits)
        } else {
            // A key of another kind has other parameters, or none; a curve without a name has a sequence of them.
            guard identifier == .ecPublicKey, let curve, algorithm.isAtEnd, accepted.contains(.ecdsa) else {
                guard accepted.contains(.otherKeys), identifier != .ecPublicKey, identifier != .rsaEncryption else {
                    throw CertificateError(.keyUnsupported)
                }
                kind = nil
                return
            }
            kind = .ec(try Self.curve(curve.content, of: bytes))
        }
    }

    private static func curve(
        _ identifier: ArraySlice<UInt8>, of point: ArraySlice<UInt8>
    ) throws(CertificateError) -> EllipticCurve {
        let curve: EllipticCurve
        if identifier == OID.p256.content {
            curve = .p256
        } else if identifier == OID.p384.content {
            curve = .p384
        } else {
            throw CertificateError(.keyUnsupported)
        }
        guard point.first == 0x04, point.count == 1 + 2 * curve.coordinateSize else {
            throw CertificateError(.keyInvalid)
        }
        return curve
    }

    private struct RSANumbers {
        let modulus: ArraySlice<UInt8>
        let exponent: ArraySlice<UInt8>
        let bits: Int
    }

    private static func numbers(of key: ArraySlice<UInt8>) throws -> RSANumbers {
        var fields = try DERReader.single(.sequence, in: key).reader
        let modulus = try fields.integer()
        let exponent = try fields.integer()
        try fields.finish()
        guard let sign = modulus.first, sign & 0x80 == 0, let first = exponent.first, first & 0x80 == 0 else {
            throw CertificateError(.keyInvalid)
        }
        let digits = modulus.drop { $0 == 0 }
        let bits = digits.count * 8 - (digits.first?.leadingZeroBitCount ?? 0)
        guard (2048...4096).contains(bits) else { throw CertificateError(.keyUnsupported) }
        return RSANumbers(modulus: digits, exponent: exponent, bits: bits)
    }

    /// The key, ready to verify signatures with.
    ///
    /// Making it costs time: keep a key that is used again.
    ///
    /// - Throws: ``CertificateError``: `key_invalid` for a point that is not on its curve, and for RSA numbers that
    ///   are not a safe key; `key_unsupported` for a key of another kind.
    public func publicKey() throws(CertificateError) -> PublicKey {
        do {
            switch kind {
            case .ec(let curve):
                return .ec(try ECPublicKey(curve: curve, x963: bytes))
            case .rsa:
                let numbers = try Self.numbers(of: bytes)
                return .rsa(try RSAPublicKey(modulus: numbers.modulus, exponent: numbers.exponent))
            case nil: throw CertificateError(.keyUnsupported)
            }
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError(.keyInvalid)
        }
    }
}
