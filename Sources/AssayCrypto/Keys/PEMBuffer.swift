internal import CLibCrypto

/// A memory buffer of OpenSSL's that reads or collects PEM text, and wipes it when it is freed.
struct PEMBuffer: ~Copyable {
    /// The longest PEM text that is read, in bytes; an RSA key of 4096 bits has about 3300.
    static let maximumByteCount = 16_384

    let pointer: OpaquePointer

    /// An empty buffer.
    init() throws(CryptoError) {
        guard let buffer = BIO_new(BIO_s_mem()) else {
            throw .fromQueue(.operationFailed, "no memory for PEM")
        }
        pointer = buffer
    }

    deinit {
        BIO_free(pointer)
    }

    /// Puts in a text to be read.
    ///
    /// Empties this thread's error queue: OpenSSL's PEM readers take what others left in it for failures of their own.
    borrowing func write(_ text: UnsafeBufferPointer<UInt8>) throws(CryptoError) {
        ERR_clear_error()
        guard text.count <= Self.maximumByteCount else {
            throw CryptoError(.invalidArgument, "a PEM text of more than \(Self.maximumByteCount) bytes")
        }
        guard text.isEmpty || BIO_write(pointer, text.baseAddress, Int32(text.count)) == Int32(text.count) else {
            throw .fromQueue(.operationFailed, "no memory for PEM")
        }
    }

    /// A copy of what was collected.
    borrowing func contents() -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let count = BIO_ctrl(pointer, BIO_CTRL_INFO, 0, &start)
        return Array(UnsafeBufferPointer(start: start, count: count))
    }

    /// Whether a text has a PEM block of exactly this kind, such as `PUBLIC KEY` (RFC 7468, section 2).
    static func hasBlock(_ kind: String, in text: some Collection<UInt8>) -> Bool {
        contains("-----BEGIN \(kind)-----", in: text)
    }

    /// Whether a text contains a phrase.
    static func contains(_ phrase: String, in text: some Collection<UInt8>) -> Bool {
        let phrase = Array(phrase.utf8)
        return withContiguousBytes(text) { text in
            guard text.count >= phrase.count else { return false }
            return (0...text.count - phrase.count).contains { start in
                text[start..<start + phrase.count].elementsEqual(phrase)
            }
        }
    }
}
