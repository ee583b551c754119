/// The public key in a certificate: a curve and a point that was not checked to lie on it yet (RFC 5480, section 2).
package struct CertifiedKey: Sendable, Hashable {
    /// The curve, by name.
    package let curve: EllipticCurve
    /// The point: 04, x and y (SEC 1, section 2.3.3), of the length that the curve asks for.
    package let point: ArraySlice<UInt8>

    /// Reads `SubjectPublicKeyInfo`; throws ``ASN1Error`` or ``CertificateError``.
    init(reading certificate: inout DERReader) throws {
        var fields = try certificate.next(.sequence).reader
        var algorithm = try fields.next(.sequence).reader
        let identifier = try algorithm.objectIdentifier()
        let parameters = try algorithm.nextIfPresent(.objectIdentifier)
        let point = try fields.octetsOfBitString()
        try fields.finish()
        // A key of another kind has other parameters, or none; a curve without a name has a sequence of them.
        guard identifier == .ecPublicKey, let parameters, algorithm.isAtEnd else {
            throw CertificateError(.keyUnsupported)
        }
        if parameters.content == OID.p256.content {
            curve = .p256
        } else if parameters.content == OID.p384.content {
            curve = .p384
        } else {
            throw CertificateError(.keyUnsupported)
        }
        guard point.first == 0x04, point.count == 1 + 2 * curve.coordinateSize else {
            throw CertificateError(.keyInvalid)
        }
        self.point = point
    }

    /// The key, ready to verify signatures with.
    package func publicKey() throws(CertificateError) -> ECPublicKey {
        do {
            return try ECPublicKey(curve: curve, x963: point)
        } catch {
            throw CertificateError(.keyInvalid)
        }
    }
}
