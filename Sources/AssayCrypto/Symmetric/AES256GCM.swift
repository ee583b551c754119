internal import CLibCrypto

/// Authenticated encryption by AES-256-GCM (NIST SP 800-38D), only with 96-bit nonces and 128-bit tags.
///
/// A nonce must never be used twice under one key.
public enum AES256GCM: Sendable {
    /// The length of a key, in bytes.
    public static let keyByteCount = 32
    /// The length of a nonce, in bytes.
    public static let nonceByteCount = 12
    /// The length of a tag, in bytes.
    public static let tagByteCount = 16
    /// The largest plaintext, in bytes: far more than anything that is sealed here, and safe for a C `int`.
    public static let maximumByteCount = 1 << 24

    /// Seals a plaintext: `ciphertext ‖ tag`, 16 bytes longer than the plaintext.
    ///
    /// - Throws: ``CryptoError`` (`invalid_argument`) unless the key has 32 bytes, the nonce 12, and the plaintext and
    ///   the associated data at most 16 MiB.
    public static func seal(
        _ plaintext: ArraySlice<UInt8>, key: SecretBytes, nonce: ArraySlice<UInt8>,
        authenticating associatedData: ArraySlice<UInt8>
    ) throws(CryptoError) -> [UInt8] {
        try check(key: key, nonce: nonce, text: plaintext, associatedData: associatedData)
        var isSealed = false
        let box = [UInt8](unsafeUninitializedCapacity: plaintext.count + tagByteCount) { box, count in
            guard let cipher = Cipher(.seal, key: key, nonce: nonce), cipher.authenticate(associatedData),
                cipher.process(plaintext, into: box), cipher.finish(),
                let start = box.baseAddress,
                cipher.copyTag(to: start + plaintext.count)
            else { return }
            count = plaintext.count + tagByteCount
            isSealed = true
        }
        guard isSealed else { throw .fromQueue(.operationFailed, "sealing failed") }
        return box
    }

    /// Opens `ciphertext ‖ tag`, and returns the plaintext.
    ///
    /// - Throws: ``CryptoError``: `authentication_failed` for a box that was sealed with another key, nonce or
    ///   associated data, or that is shorter than a tag; `invalid_argument` as in sealing.
    public static func open(
        _ box: ArraySlice<UInt8>, key: SecretBytes, nonce: ArraySlice<UInt8>,
        authenticating associatedData: ArraySlice<UInt8>
    ) throws(CryptoError) -> [UInt8] {
        guard box.count >= tagByteCount else {
            throw CryptoError(.authenticationFailed, "a sealed box is at least \(tagByteCount) bytes long")
        }
        let ciphertext = box.dropLast(tagByteCount)
        let tag = box.suffix(tagByteCount)
        try check(key: key, nonce: nonce, text: ciphertext, associatedData: associatedData)
        var isOpen = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: ciphertext.count) { plaintext, count in
            guard let cipher = Cipher(.open, key: key, nonce: nonce), cipher.authenticate(associatedData),
                cipher.process(ciphertext, into: plaintext), cipher.expectTag(tag), cipher.finish()
            else {
                // The output is zeroed: it was decrypted before the tag was found to be wrong.
                OPENSSL_cleanse(plaintext.baseAddress, ciphertext.count)
                return
            }
            count = ciphertext.count
            isOpen = true
        }
        guard isOpen else {
            ERR_clear_error()
            throw CryptoError(.authenticationFailed, "the sealed box does not open")
        }
        return plaintext
    }

    private static func check(
        key: SecretBytes, nonce: ArraySlice<UInt8>, text: ArraySlice<UInt8>, associatedData: ArraySlice<UInt8>
    ) throws(CryptoError) {
        guard key.count == keyByteCount else {
            throw CryptoError(.invalidArgument, "a key of \(key.count) bytes where \(keyByteCount) are needed")
        }
        guard nonce.count == nonceByteCount else {
            throw CryptoError(.invalidArgument, "a nonce of \(nonce.count) bytes where \(nonceByteCount) are needed")
        }
        guard text.count <= maximumByteCount, associatedData.count <= maximumByteCount else {
            throw CryptoError(.invalidArgument, "more than \(maximumByteCount) bytes")
        }
    }
}

/// One run of the cipher over one message; false means that OpenSSL refused.
private struct Cipher: ~Copyable {
    enum Direction: Int32 {
        case open = 0
        case seal = 1
    }

    private let context: OpaquePointer

    init?(_ direction: Direction, key: SecretBytes, nonce: ArraySlice<UInt8>) {
        guard let method = CipherMethod.aes256GCM.pointer, let context = EVP_CIPHER_CTX_new() else { return nil }
        let isReady = key.withUnsafeBytes { key in
            nonce.withUnsafeBufferPointer { nonce in
                EVP_CipherInit_ex2(context, method, key.baseAddress, nonce.baseAddress, direction.rawValue, nil) == 1
            }
        }
        guard isReady else {
            EVP_CIPHER_CTX_free(context)
            return nil
        }
        self.context = context
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
    }

    borrowing func authenticate(_ bytes: ArraySlice<UInt8>) -> Bool {
        process(bytes, into: UnsafeMutableBufferPointer(start: nil, count: 0))
    }

    borrowing func process(_ bytes: ArraySlice<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        // For OpenSSL a call with neither input nor output means the end.
        guard !bytes.isEmpty else { return true }
        var written: Int32 = 0
        return bytes.withUnsafeBufferPointer { bytes in
            EVP_CipherUpdate(context, output.baseAddress, &written, bytes.baseAddress, Int32(bytes.count)) == 1
        }
    }

    borrowing func finish() -> Bool {
        var written: Int32 = 0
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: AES256GCM.tagByteCount) { unused in
            EVP_CipherFinal_ex(context, unused.baseAddress, &written) == 1 && written == 0
        }
    }

    borrowing func copyTag(to output: UnsafeMutablePointer<UInt8>) -> Bool {
        EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(AES256GCM.tagByteCount), output) == 1
    }

    borrowing func expectTag(_ tag: ArraySlice<UInt8>) -> Bool {
        var tag = Array(tag)
        return EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tag.count), &tag) == 1
    }
}

/// OpenSSL's cipher method, fetched once in the lifetime of the process; nil when it is not available.
// A fetched method never changes, and OpenSSL counts its references atomically.
private struct CipherMethod: @unchecked Sendable {
    static let aes256GCM = CipherMethod(pointer: EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))

    let pointer: OpaquePointer?
}
