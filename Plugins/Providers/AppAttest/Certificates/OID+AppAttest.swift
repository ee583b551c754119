package import AssayCrypto

extension OID {
    /// The nonce that the attested key was certified for.
    package static let attestationNonce = OID(1, 2, 840, 113635, 100, 8, 2)
    /// Properties of the key, the App ID among them; undocumented.
    package static let attestedKeyProperties = OID(1, 2, 840, 113635, 100, 8, 5)
    /// The access-control policy of the key.
    package static let attestedKeyPolicy = OID(1, 2, 840, 113635, 100, 8, 6)
    /// Properties of the operating system; undocumented.
    package static let attestedSystem = OID(1, 2, 840, 113635, 100, 8, 7)
    /// The one purpose that leaves carry since 2026.
    package static let appAttestPurpose = OID(1, 2, 840, 113635, 100, 4, 24)
    /// What marks a certificate as that of a signer of receipts.
    package static let receiptSigner = OID(1, 2, 840, 113635, 100, 12, 15)
}
