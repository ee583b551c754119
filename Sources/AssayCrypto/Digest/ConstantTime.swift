internal import CLibCrypto

/// Comparison of secrets.
public enum ConstantTime: Sendable {
    /// Whether two byte strings are equal, in a time that depends on their lengths only.
    public static func equal(_ left: some Collection<UInt8>, _ right: some Collection<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return withContiguousBytes(left) { left in
            withContiguousBytes(right) { right in
                guard let first = left.baseAddress, let second = right.baseAddress else { return true }
                return CRYPTO_memcmp(first, second, left.count) == 0
            }
        }
    }
}

/// Lends the bytes of a collection, without a copy where it has them in one piece.
func withContiguousBytes<Result>(
    _ bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
}
