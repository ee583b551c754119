internal import CLibCrypto

/// A verification or signing context that was set up once for a key; each use works on a duplicate.
///
/// Duplicating costs 0.2 µs where setting up costs 2 µs or more, because nothing is looked up by name again.
// The context is never used itself, only duplicated; duplicating reads it and counts references atomically.
final class KeyOperation: @unchecked Sendable {
    enum Purpose {
        case verify
        case sign
    }

    private let template: OpaquePointer

    /// Sets up a context; `digest` is what a PKCS #1 v1.5 signature names, and nil for ECDSA, which names none.
    init(_ purpose: Purpose, key: KeyHandle, digest: DigestAlgorithm?) throws(CryptoError) {
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil) else {
            throw .fromQueue(.operationFailed, "no context for the key")
        }
        var isReady =
            switch purpose {
            case .verify: EVP_PKEY_verify_init(context) == 1
            case .sign: EVP_PKEY_sign_init(context) == 1
            }
        if let digest {
            isReady =
                isReady && EVP_PKEY_CTX_set_rsa_padding(context, RSA_PKCS1_PADDING) == 1
                && EVP_PKEY_CTX_set_signature_md(context, digest.method) == 1
        }
        guard isReady else {
            EVP_PKEY_CTX_free(context)
            throw .fromQueue(.operationFailed, "the key cannot be used to \(purpose)")
        }
        template = context
    }

    deinit {
        EVP_PKEY_CTX_free(template)
    }

    /// Whether a signature over a digest is good; false as well when the library fails.
    func isValid(signature: UnsafeBufferPointer<UInt8>, digest: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let context = EVP_PKEY_CTX_dup(template) else {
            ERR_clear_error()
            return false
        }
        defer { EVP_PKEY_CTX_free(context) }
        let outcome = EVP_PKEY_verify(
            context, signature.baseAddress, signature.count, digest.baseAddress, digest.count)
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
        guard let context = EVP_PKEY_CTX_dup(template) else {
            throw .fromQueue(.operationFailed, "no context for a signature")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var written = output.count
        guard EVP_PKEY_sign(context, output.baseAddress, &written, digest.baseAddress, digest.count) == 1 else {
            throw .fromQueue(.operationFailed, "signing failed")
        }
        return written
    }
}
