extension PublicKey {
    /// A key from the DER of a SubjectPublicKeyInfo (RFC 5280, section 4.1.2.7): RSA of 2048 to 4096 bits, P-256 or P-384.
    ///
    /// Only the distinguished encoding is read. Making a key costs time: keep one that is used again.
    ///
    /// - Throws: ``CertificateError``: `malformed` for any other bytes, `too_large` beyond 4 KiB, `key_unsupported` for keys
    ///   of other kinds, `key_invalid` for a point that is not on its curve, and for RSA numbers that are not a safe key.
    public init(spki der: some Collection<UInt8>) throws(CertificateError) {
        guard der.count <= 4096 else { throw CertificateError(.tooLarge) }
        do {
            var reader = DERReader(Array(der)[...])
            let key = try CertifiedKey(reading: &reader, .all)
            try reader.finish()
            self = try key.publicKey()
        } catch let error as CertificateError {
            throw error
        } catch {
            throw CertificateError(.malformed)
        }
    }
}
