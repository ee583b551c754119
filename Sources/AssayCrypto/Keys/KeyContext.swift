internal import CLibCrypto

/// A context of OpenSSL that is ready to verify or to sign.
// Whoever took it from its operation is alone with it, and puts it back or frees it.
struct KeyContext: @unchecked Sendable {
    let pointer: OpaquePointer

    init(_ purpose: KeyOperation.Purpose, key: KeyHandle, digest: DigestAlgorithm?) throws(CryptoError) {
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
        pointer = context
    }
}
