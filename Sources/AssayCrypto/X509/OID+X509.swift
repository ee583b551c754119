extension OID {
    /// `ecdsa-with-SHA256` (RFC 5758, section 3.2).
    package static let ecdsaWithSHA256 = OID(1, 2, 840, 10045, 4, 3, 2)
    /// `ecdsa-with-SHA384` (RFC 5758, section 3.2).
    package static let ecdsaWithSHA384 = OID(1, 2, 840, 10045, 4, 3, 3)
    /// `id-ecPublicKey` (RFC 5480, section 2.1.1).
    package static let ecPublicKey = OID(1, 2, 840, 10045, 2, 1)
    /// `secp256r1` (RFC 5480, section 2.1.1.1).
    package static let p256 = OID(1, 2, 840, 10045, 3, 1, 7)
    /// `secp384r1` (RFC 5480, section 2.1.1.1).
    package static let p384 = OID(1, 3, 132, 0, 34)
    /// Subject key identifier (RFC 5280, section 4.2.1.2).
    package static let subjectKeyIdentifier = OID(2, 5, 29, 14)
    /// Key usage (RFC 5280, section 4.2.1.3).
    package static let keyUsage = OID(2, 5, 29, 15)
    /// Basic constraints (RFC 5280, section 4.2.1.9).
    package static let basicConstraints = OID(2, 5, 29, 19)
    /// Authority key identifier (RFC 5280, section 4.2.1.1).
    package static let authorityKeyIdentifier = OID(2, 5, 29, 35)
    /// Extended key usage (RFC 5280, section 4.2.1.12).
    package static let extendedKeyUsage = OID(2, 5, 29, 37)
}
