internal import CLibCrypto
internal import Synchronization

/// Verifies or signs digests with one key, in contexts that were set up for it once.
///
/// Setting up a context costs 2 µs or more, and so does what OpenSSL looks up by name meanwhile: so a context is used
/// again, by one caller at a time, and there are as many of them as callers at once.
final class KeyOperation: Sendable {
    enum Purpose {
        case verify
        case sign
    }

    /// More are not kept when their callers are done: more callers at once than a machine has cores gain nothing.
    private static let mostIdle = 64

    private let purpose: Purpose
    private let key: KeyHandle
    /// What a PKCS #1 v1.5 signature names; nil for ECDSA, which names none.
    private let digest: DigestAlgorithm?
    private let idle: Mutex<[KeyContext]>

    init(_ purpose: Purpose, key: KeyHandle, digest: DigestAlgorithm?) throws(CryptoError) {
        self.purpose = purpose
        self.key = key
        self.digest = digest
        idle = Mutex([try KeyContext(purpose, key: key, digest: digest)])
    }

    deinit {
        for context in idle.withLock({ $0 }) { EVP_PKEY_CTX_free(context.pointer) }
    }

    /// Whether a signature over a digest is good; false as well when the library fails.
    func isValid(signature: UnsafeBufferPointer<UInt8>, digest: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let context = try? take() else { return false }
        defer { put(context) }
        let outcome = EVP_PKEY_verify(
            context.pointer, signature.baseAddress, signature.count, digest.baseAddress, digest.count)
        guard outcome == 1 else {
            ERR_clear_error()
            return false
        }
        return true
    }

    /// Signs a digest into `output`, and returns how many bytes of it were written.
    func sign(
        digest: UnsafeBufferPointer<UInt8>, into output: UnsafeMutableBufferPointer<UInt8>
    ) throws(CryptoError) -> Int {
        let context = try take()
        defer { put(context) }
        var written = output.count
        guard EVP_PKEY_sign(context.pointer, output.baseAddress, &written, digest.baseAddress, digest.count) == 1
        else { throw .fromQueue(.operationFailed, "signing failed") }
        return written
    }

    private func take() throws(CryptoError) -> KeyContext {
        if let context = idle.withLock({ $0.popLast() }) { return context }
        return try KeyContext(purpose, key: key, digest: digest)
    }

    private func put(_ context: KeyContext) {
        let isKept = idle.withLock { idle in
            guard idle.count < KeyOperation.mostIdle else { return false }
            idle.append(context)
            return true
        }
        if !isKept { EVP_PKEY_CTX_free(context.pointer) }
    }
}
