// MARK: Keys and signatures

extension OID {
    /// `id-ecPublicKey` (RFC 5480, section 2.1.1).
    package static let ecPublicKey = OID(1, 2, 840, 10045, 2, 1)
    /// `secp256r1` (RFC 5480, section 2.1.1.1).
    package static let p256 = OID(1, 2, 840, 10045, 3, 1, 7)
    /// `secp384r1` (RFC 5480, section 2.1.1.1).
    package static let p384 = OID(1, 3, 132, 0, 34)
    /// `rsaEncryption` (RFC 8017, appendix A.1).
    package static let rsaEncryption = OID(1, 2, 840, 113549, 1, 1, 1)
    /// `ecdsa-with-SHA256`, `-SHA384` and `-SHA512` (RFC 5758, section 3.2).
    package static let ecdsaWithSHA256 = OID(1, 2, 840, 10045, 4, 3, 2)
    package static let ecdsaWithSHA384 = OID(1, 2, 840, 10045, 4, 3, 3)
    package static let ecdsaWithSHA512 = OID(1, 2, 840, 10045, 4, 3, 4)
    /// `sha256WithRSAEncryption`, `sha384-` and `sha512-` (RFC 4055, section 5).
    package static let rsaWithSHA256 = OID(1, 2, 840, 113549, 1, 1, 11)
    package static let rsaWithSHA384 = OID(1, 2, 840, 113549, 1, 1, 12)
    package static let rsaWithSHA512 = OID(1, 2, 840, 113549, 1, 1, 13)
    /// `id-RSASSA-PSS` and `id-mgf1` (RFC 4055, section 3.1 and 2.2).
    package static let rsaPSS = OID(1, 2, 840, 113549, 1, 1, 10)
    package static let mgf1 = OID(1, 2, 840, 113549, 1, 1, 8)
    /// `id-sha256`, `id-sha384` and `id-sha512` (RFC 5754, section 2).
    package static let sha256 = OID(2, 16, 840, 1, 101, 3, 4, 2, 1)
    package static let sha384 = OID(2, 16, 840, 1, 101, 3, 4, 2, 2)
    package static let sha512 = OID(2, 16, 840, 1, 101, 3, 4, 2, 3)
}

// MARK: Extensions of certificates

extension OID {
    /// Subject key identifier (RFC 5280, section 4.2.1.2).
    public static let subjectKeyIdentifier = OID(2, 5, 29, 14)
    /// Key usage (RFC 5280, section 4.2.1.3).
    public static let keyUsage = OID(2, 5, 29, 15)
    /// Basic constraints (RFC 5280, section 4.2.1.9).
    public static let basicConstraints = OID(2, 5, 29, 19)
    /// Authority key identifier (RFC 5280, section 4.2.1.1).
    public static let authorityKeyIdentifier = OID(2, 5, 29, 35)
    /// Extended key usage (RFC 5280, section 4.2.1.12).
    public static let extendedKeyUsage = OID(2, 5, 29, 37)
}

// MARK: Signed messages

extension OID {
    /// `id-data` (RFC 5652, section 4).
    package static let cmsData = OID(1, 2, 840, 113549, 1, 7, 1)
    /// `id-signedData` (RFC 5652, section 5.1).
    package static let cmsSignedData = OID(1, 2, 840, 113549, 1, 7, 2)
    /// `id-contentType` (RFC 5652, section 11.1).
    package static let cmsContentType = OID(1, 2, 840, 113549, 1, 9, 3)
    /// `id-messageDigest` (RFC 5652, section 11.2).
    package static let cmsMessageDigest = OID(1, 2, 840, 113549, 1, 9, 4)
    /// `id-signingTime` (RFC 5652, section 11.3).
    package static let cmsSigningTime = OID(1, 2, 840, 113549, 1, 9, 5)
    /// `id-aa-CMSAlgorithmProtection` (RFC 6211, section 2).
    package static let cmsAlgorithmProtection = OID(1, 2, 840, 113549, 1, 9, 52)
}
