internal import CLibCrypto

extension PrivateKey {
    /// A key from PEM: PKCS #8 (`BEGIN PRIVATE KEY`, RFC 5958), or the older forms for RSA and for elliptic curves.
    ///
    /// The text's copies that are made here are wiped; the caller wipes the text itself.
    ///
    /// - Throws: ``CryptoError``: `unsupported_key` for an encrypted key, for RSA of fewer than 2048 or more than 4096
    ///   bits, and for other curves and types; `invalid_key` for text that is not a private key, or when its public and
    ///   private parts do not match; `invalid_argument` beyond 16 KiB.
    public init(pem text: SecretBytes) throws(CryptoError) {
        let handle = try text.withUnsafeBytes { text throws(CryptoError) in try Self.read(text) }
        try self.init(handle: handle)
    }

    /// A key from PEM text in an array; see ``init(pem:)-(SecretBytes)``.
    public init(pem text: [UInt8]) throws(CryptoError) {
        let handle = try text.withUnsafeBufferPointer { text throws(CryptoError) in try Self.read(text) }
        try self.init(handle: handle)
    }

    /// The key as unencrypted PKCS #8 in PEM, which `init(pem:)` reads.
    ///
    /// - Throws: ``CryptoError`` (`operation_failed`) when memory is short.
    public func pem() throws(CryptoError) -> SecretBytes {
        let buffer = try PEMBuffer()
        guard PEM_write_bio_PKCS8PrivateKey(buffer.pointer, handle.pointer, nil, nil, 0, nil, nil) == 1 else {
            throw .fromQueue(.operationFailed, "the private key cannot be written")
        }
        var contents = buffer.contents()
        defer { SecretBytes.wipe(&contents) }
        return SecretBytes(contents)
    }

    private static func read(_ text: UnsafeBufferPointer<UInt8>) throws(CryptoError) -> KeyHandle {
        let buffer = try PEMBuffer()
        try buffer.write(text)
        guard !PEMBuffer.contains("ENCRYPTED", in: text) else {
            throw CryptoError(.unsupportedKey, "an encrypted private key: decrypt it first, and protect the file")
        }
        // Without a callback of our own OpenSSL would ask the terminal for a password.
        let key = PEM_read_bio_PrivateKey(buffer.pointer, nil, { _, _, _, _ in -1 }, nil)
        guard let key else {
            throw .fromQueue(.invalidKey, "the PEM text holds no private key")
        }
        return KeyHandle(owning: key)
    }
}
