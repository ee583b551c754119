internal import CLibCrypto

extension PublicKey {
    /// The key in a certificate in PEM (`BEGIN CERTIFICATE`), of whose other contents nothing is judged: for
    /// certificates that somebody put into a configuration because of their keys.
    ///
    /// - Throws: ``CryptoError``: `invalid_key` for what is no certificate, `unsupported_key` for a key that is neither
    ///   RSA of 2048 to 4096 bits nor on P-256 or P-384, `invalid_argument` beyond 16 KiB.
    public init(certificatePEM text: some Collection<UInt8>) throws(CryptoError) {
        guard text.count <= PEMBuffer.maximumByteCount else {
            throw CryptoError(.invalidArgument, "a PEM text of more than \(PEMBuffer.maximumByteCount) bytes")
        }
        guard PEMBuffer.hasBlock("CERTIFICATE", in: text) else {
            throw CryptoError(.invalidKey, "no PEM block BEGIN CERTIFICATE")
        }
        let bytes = Array(text)
        let handle = try bytes.withUnsafeBufferPointer { bytes throws(CryptoError) in
            let buffer = try PEMBuffer()
            try buffer.write(bytes)
            guard let certificate = PEM_read_bio_X509(buffer.pointer, nil, nil, nil) else {
                throw .fromQueue(.invalidKey, "the PEM text holds no certificate")
            }
            defer { X509_free(certificate) }
            guard let key = X509_get_pubkey(certificate) else {
                throw .fromQueue(.unsupportedKey, "the certificate holds no key that is known")
            }
            return KeyHandle(owning: key)
        }
        try self.init(handle: handle)
    }
}
