internal import CLibCrypto

/// Wrapping of keys by AES-256 (RFC 3394), with the initial value of its section 2.2.3.1.
public enum AES256KeyWrap: Sendable {
    /// The length of the wrapping key, in bytes.
    public static let keyByteCount = 32
    /// How much longer a wrapped key is than the key, in bytes.
    public static let overhead = 8
    /// How long keys may be that are wrapped, in bytes: whole blocks of eight.
    public static let keyByteCounts = 16...64

    /// Wraps a key: 8 bytes longer than the key.
    ///
    /// - Throws: ``CryptoError`` (`invalid_argument`) unless the wrapping key has 32 bytes and the other one 16 to 64, in blocks of eight.
    public static func wrap(_ key: SecretBytes, with wrapping: SecretBytes) throws(CryptoError) -> [UInt8] {
        try check(wrapping, count: key.count)
        var isWrapped = false
        let wrapped = [UInt8](unsafeUninitializedCapacity: key.count + overhead) { output, count in
            isWrapped = key.withUnsafeBytes { run(.wrap, wrapping, $0, into: output) == key.count + overhead }
            count = isWrapped ? key.count + overhead : 0
        }
        guard isWrapped else { throw .fromQueue(.operationFailed, "wrapping a key failed") }
        return wrapped
    }

    /// Unwraps a key.
    ///
    /// OpenSSL compares the initial value in constant time.
    ///
    /// - Throws: ``CryptoError``: `authentication_failed` for a key that was wrapped with another one, or changed;
    ///   `invalid_argument` as in wrapping.
    public static func unwrap(
        _ wrapped: ArraySlice<UInt8>, with wrapping: SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let count = wrapped.count - overhead
        try check(wrapping, count: count)
        var isOpen = false
        // OpenSSL writes no more than the key, and needs no more space.
        let key = SecretBytes(count: count) { output in
            isOpen = wrapped.withUnsafeBufferPointer { run(.unwrap, wrapping, $0, into: output) == count }
        }
        guard isOpen else {
            ERR_clear_error()
            throw CryptoError(.authenticationFailed, "the wrapped key does not open")
        }
        return key
    }

    private static func check(_ wrapping: SecretBytes, count: Int) throws(CryptoError) {
        guard wrapping.count == keyByteCount else {
            throw CryptoError(.invalidArgument, "a key of \(wrapping.count) bytes where \(keyByteCount) are needed")
        }
        guard keyByteCounts.contains(count), count % 8 == 0 else {
            throw CryptoError(.invalidArgument, "keys of 16 to 64 bytes are wrapped, in blocks of eight")
        }
    }

    private enum Direction: Int32 {
        case unwrap = 0
        case wrap = 1
    }

    /// Returns how many bytes were written; nil when OpenSSL refused.
    private static func run(
        _ direction: Direction, _ wrapping: SecretBytes, _ input: UnsafeBufferPointer<UInt8>,
        into output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int? {
        guard let method = KeyWrapMethod.aes256.pointer, let context = EVP_CIPHER_CTX_new() else { return nil }
        defer { EVP_CIPHER_CTX_free(context) }
        EVP_CIPHER_CTX_set_flags(context, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
        let isReady = wrapping.withUnsafeBytes {
            EVP_CipherInit_ex2(context, method, $0.baseAddress, nil, direction.rawValue, nil) == 1
        }
        var written: Int32 = 0
        guard isReady,
            EVP_CipherUpdate(context, output.baseAddress, &written, input.baseAddress, Int32(input.count)) == 1
        else { return nil }
        return Int(written)
    }
}

/// OpenSSL's cipher method, fetched once in the lifetime of the process; nil when it is not available.
// A fetched method never changes, and OpenSSL counts its references atomically.
private struct KeyWrapMethod: @unchecked Sendable {
    static let aes256 = KeyWrapMethod(pointer: EVP_CIPHER_fetch(nil, "AES-256-WRAP", nil))

    let pointer: OpaquePointer?
}
