internal import CLibCrypto

extension PrivateKey {
    /// The secret that the key shares with another party's key: the x coordinate of the product (NIST SP 800-56A,
    /// section 5.7.1.2), as long as a coordinate of the curve.
    ///
    /// It is not uniformly random: derive keys from it.
    ///
    /// - Throws: ``CryptoError``: `invalid_argument` unless both keys are on one curve, `operation_failed` when OpenSSL
    ///   fails.
    public func sharedSecret(with other: ECPublicKey) throws(CryptoError) -> SecretBytes {
        guard kind == .ec(other.curve) else {
            throw CryptoError(.invalidArgument, "a \(kind) key shares no secret with a \(other.curve.jwkName) key")
        }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, handle.pointer, nil) else {
            throw .fromQueue(.operationFailed, "no memory for a key agreement")
        }
        defer { EVP_PKEY_CTX_free(context) }
        guard EVP_PKEY_derive_init(context) == 1, EVP_PKEY_derive_set_peer(context, other.handle.pointer) == 1 else {
            throw .fromQueue(.operationFailed, "the keys cannot agree on a secret")
        }
        var count = other.curve.coordinateSize
        var isDerived = false
        let secret = SecretBytes(count: count) { buffer in
            isDerived = EVP_PKEY_derive(context, buffer.baseAddress, &count) == 1
        }
        guard isDerived, count == secret.count else {
            throw .fromQueue(.operationFailed, "the keys cannot agree on a secret")
        }
        return secret
    }
}
