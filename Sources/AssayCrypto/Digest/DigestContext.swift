internal import CLibCrypto

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
