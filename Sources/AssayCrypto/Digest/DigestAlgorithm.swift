internal import CLibCrypto

/// A digest that signatures are made over.
@nonexhaustive public enum DigestAlgorithm: Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// SHA-256 (FIPS 180-4).
    case sha256
    /// SHA-384 (FIPS 180-4).
    case sha384
    /// SHA-512 (FIPS 180-4).
    case sha512

    /// The length of a digest, in bytes.
    public var byteCount: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// The name in the standards, such as `SHA-256`.
    public var description: String { "SHA-\(byteCount * 8)" }

    /// OpenSSL's method for the digest, fetched once in the lifetime of the process.
    var method: OpaquePointer {
        switch self {
        case .sha256: Self.sha256Method.pointer
        case .sha384: Self.sha384Method.pointer
        case .sha512: Self.sha512Method.pointer
        }
    }

    private static let sha256Method = FetchedDigest("SHA2-256")
    private static let sha384Method = FetchedDigest("SHA2-384")
    private static let sha512Method = FetchedDigest("SHA2-512")
}

/// A digest method that lives as long as the process.
// A fetched method never changes, and OpenSSL counts its references atomically.
private struct FetchedDigest: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ name: String) {
        guard let fetched = EVP_MD_fetch(nil, name, nil) else {
            // Nothing here could be decided without it, and no input leads here.
            preconditionFailure("OpenSSL offers no \(name): its default provider is not loaded")
        }
        pointer = fetched
    }
}

/// A running digest; a single owner, so that it costs no reference counting.
struct DigestContext: ~Copyable {
    let algorithm: DigestAlgorithm
    private let context: OpaquePointer

    init(_ algorithm: DigestAlgorithm) {
        self.algorithm = algorithm
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else {
            // Only a process that is out of memory comes here, as with any allocation in Swift.
            preconditionFailure("no memory for a digest")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    mutating func update(_ bytes: some Collection<UInt8>) {
        if bytes.withContiguousStorageIfAvailable({ update($0) }) == nil {
            Array(bytes).withUnsafeBufferPointer { update($0) }
        }
    }

    mutating func update(_ bytes: UnsafeBufferPointer<UInt8>) {
        let outcome = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(outcome == 1, "a digest method of OpenSSL failed")
    }

    /// Ends the digest, and lends it to `body`.
    consuming func finish<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: algorithm.byteCount) { buffer in
            let outcome = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            precondition(outcome == 1, "a digest method of OpenSSL failed")
            return body(UnsafeBufferPointer(buffer))
        }
    }

    /// Ends the digest.
    consuming func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: algorithm.byteCount) { buffer, count in
            let outcome = EVP_DigestFinal_ex(context, buffer.baseAddress, nil)
            precondition(outcome == 1, "a digest method of OpenSSL failed")
            count = algorithm.byteCount
        }
    }
}
