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
    /// `id-sha256` (RFC 5754, section 2.2).
    package static let sha256 = OID(2, 16, 840, 1, 101, 3, 4, 2, 1)
}
