internal import CLibCrypto

// Unchecked: the storage is written only while it is made.
/// Bytes that are zeroed when their last reference is released, and that never appear in logs.
public final class SecretBytes: @unchecked Sendable {
    /// The number of bytes.
    public let count: Int

    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// A copy of the bytes; the original is the caller's to wipe.
    public convenience init(_ bytes: some Collection<UInt8>) {
        self.init(count: bytes.count) { buffer in
            _ = buffer.update(fromContentsOf: bytes)
        }
    }

    /// Storage of `count` zeros that `fill` writes to.
    init(count: Int, fill: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        self.count = count
        storage = .allocate(capacity: count)
        storage.initialize(repeating: 0)
        fill(storage)
    }

    deinit {
        OPENSSL_cleanse(storage.baseAddress, storage.count)
        storage.deallocate()
    }

    /// Lends the bytes; the pointer is valid only within `body`.
    public func withUnsafeBytes<Result, Failure>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(storage))
    }

    /// Zeroes an array that held a secret.
    ///
    /// Copies that were made of it before are not reached.
    public static func wipe(_ bytes: inout [UInt8]) {
        bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        bytes.removeAll()
    }
}

extension SecretBytes: Equatable {
    /// Compares in constant time.
    public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
        ConstantTime.equal(UnsafeBufferPointer(left.storage), UnsafeBufferPointer(right.storage))
    }
}

extension SecretBytes: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The number of bytes, without the bytes.
    public var description: String { "<\(count) secret bytes>" }
    /// Same as ``description``.
    public var debugDescription: String { description }
    /// An empty mirror, so that a dump does not reveal the bytes.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

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

/// Gives access to the bytes of a collection, without a copy if they are contiguous.
func withContiguousBytes<Result>(
    _ bytes: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    bytes.withContiguousStorageIfAvailable(body) ?? Array(bytes).withUnsafeBufferPointer(body)
}
