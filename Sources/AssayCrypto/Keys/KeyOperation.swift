internal import CLibCrypto
internal import Synchronization

/// Verifies or signs digests with one key, in contexts that are set up for it once.
///
/// Setting up a context costs 2 µs or more, and so do OpenSSL's lookups by name: so contexts are used again, each by
/// one caller at a time, and there are as many as concurrent callers.
final class KeyOperation: Sendable {
    enum Purpose {
        case verify
        case sign
    }

    /// Unused contexts above this number are released: more callers than cores gain nothing.
    private static let mostIdle = 64

    private let purpose: Purpose
    private let key: KeyHandle
    /// How an RSA signature is padded; nil for ECDSA, which has no padding.
    private let padding: RSAPadding?
    private let idle: Mutex<[KeyContext]>

    init(_ purpose: Purpose, key: KeyHandle, padding: RSAPadding?) throws(CryptoError) {
        self.purpose = purpose
        self.key = key
        self.padding = padding
        idle = Mutex([try KeyContext(purpose, key: key, padding: padding)])
    }

    deinit {
        for context in idle.withLock({ $0 }) { EVP_PKEY_CTX_free(context.pointer) }
    }

    /// Whether a signature over a digest is valid; false also when the library fails.
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
        return try KeyContext(purpose, key: key, padding: padding)
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

/// How an RSA signature is padded, and over which digest.
enum RSAPadding: Hashable {
    /// RSASSA-PKCS1-v1_5.
    case pkcs1(DigestAlgorithm)
    /// RSASSA-PSS with a salt as long as the digest.
    case pss(DigestAlgorithm)
    /// None: the number itself, as long as the modulus, in place of a digest (RFC 8017, sections 5.2.1 and 5.2.2).
    case raw
}

/// A context of OpenSSL that is ready to verify or to sign.
// The caller that took it from its operation owns it alone, and puts it back or frees it.
struct KeyContext: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ purpose: KeyOperation.Purpose, key: KeyHandle, padding: RSAPadding?) throws(CryptoError) {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw .fromQueue(.operationFailed, "no context for the key")
        }
        var isReady =
            switch purpose {
            case .verify: EVP_PKEY_verify_init(context) == 1
            case .sign: EVP_PKEY_sign_init(context) == 1
            }
        switch padding {
        case .pkcs1(let digest):
            isReady =
                isReady && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.method) == 1
        case .pss(let digest):
            // MGF1 uses the same digest when no other is set.
            isReady =
                isReady && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PSS_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.method) == 1
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(context, RSA_PSS_SALTLEN_DIGEST) == 1
        case .raw:
            isReady = isReady && EVP_PKEY_CTX_set_rsa_padding(context, RSA_NO_PADDING) == 1
        case nil:
            break
        }
        guard isReady else {
            EVP_PKEY_CTX_free(context)
            throw .fromQueue(.operationFailed, "the key cannot be used to \(purpose)")
        }
        pointer = context
    }
}

/// Owns one reference to an OpenSSL key.
// A key is only read once it is made, and OpenSSL counts its references atomically.
final class KeyHandle: @unchecked Sendable {
    let pointer: OpaquePointer

    /// Takes ownership of the caller's reference.
    init(owning pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        EVP_PKEY_free(pointer)
    }
}
