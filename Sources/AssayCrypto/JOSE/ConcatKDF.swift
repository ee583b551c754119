internal import AssayCore

/// The key derivation of ECDH-ES: the Concat KDF with SHA-256 (RFC 7518, section 4.6.2; NIST SP 800-56A, section 5.8.1).
enum ConcatKDF {
    /// Derives a key of up to 32 bytes, for which one round is enough.
    ///
    /// - Parameters:
    ///   - algorithm: the name of the algorithm that the key is for: the header's `enc`.
    ///   - sender: the header's `apu`, decoded; empty when it is absent.
    ///   - recipient: the header's `apv`, decoded; empty when it is absent.
    ///   - count: the length of the key, in bytes.
    static func derive(
        from secret: SecretBytes, algorithm: String, sender: [UInt8] = [], recipient: [UInt8] = [], count: Int
    ) -> SecretBytes {
        var digest = SHA256()
        digest.update(number(1))
        secret.withUnsafeBytes { digest.update($0) }
        for part in [Array(algorithm.utf8), sender, recipient] {
            digest.update(number(part.count))
            digest.update(part)
        }
        let count = min(max(count, 0), SHA256.byteCount)
        digest.update(number(8 * count))
        var key = digest.finalize()
        defer { SecretBytes.wipe(&key) }
        return SecretBytes(key.prefix(count))
    }

    /// 32 bits, big-endian.
    private static func number(_ number: Int) -> [UInt8] {
        UInt64(clamping: number).bigEndianBytes.suffix(4)
    }
}
