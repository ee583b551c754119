internal import CLibCrypto

/// Bytes that are zeroed when their last holder lets go of them, and that no log shows.
// The storage is written only while it is made.
public final class SecretBytes: @unchecked Sendable {
    /// How many bytes there are.
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

    /// Lends the bytes; the pointer is good only within `body`.
    public func withUnsafeBytes<Result, Failure>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeBufferPointer(storage))
    }

    /// Zeroes an array that held a secret. Copies that were made of it before are not reached.
    package static func wipe(_ bytes: inout [UInt8]) {
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
    public var description: String { "<\(count) secret bytes>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
