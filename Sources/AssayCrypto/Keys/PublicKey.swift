internal import CLibCrypto

/// A public key of either kind.
@nonexhaustive public enum PublicKey: Sendable, Hashable {
    /// An RSA key.
    case rsa(RSAPublicKey)
    /// A key on an elliptic curve.
    case ec(ECPublicKey)

    /// A key from a PEM text with one SubjectPublicKeyInfo (RFC 7468, section 13: `BEGIN PUBLIC KEY`).
    ///
    /// - Throws: ``CryptoError``: `invalid_key` for any other text, `unsupported_key` for a key other than RSA of 2048
    ///   to 4096 bits, P-256 or P-384, `invalid_argument` beyond 16 KiB.
    public init(pem text: some Collection<UInt8>) throws(CryptoError) {
        guard text.count <= PEMBuffer.maximumByteCount else {
            throw CryptoError(.invalidArgument, "a PEM text of more than \(PEMBuffer.maximumByteCount) bytes")
        }
        guard PEMBuffer.hasBlock("PUBLIC KEY", in: text) else {
            throw CryptoError(.invalidKey, "no PEM block BEGIN PUBLIC KEY")
        }
        let bytes = Array(text)
        let handle = try bytes.withUnsafeBufferPointer { bytes throws(CryptoError) in
            let buffer = try PEMBuffer()
            try buffer.write(bytes)
            guard let key = PEM_read_bio_PUBKEY(buffer.pointer, nil, nil, nil) else {
                throw .fromQueue(.invalidKey, "the PEM text holds no public key")
            }
            return KeyHandle(owning: key)
        }
        try self.init(handle: handle)
    }

    /// The public half of a key of OpenSSL, made again from its numbers, so that it contains nothing private.
    init(handle: KeyHandle) throws(CryptoError) {
        switch EVP_PKEY_get_base_id(handle.pointer) {
        case EVP_PKEY_RSA:
            guard let modulus = handle.number(OSSL_PKEY_PARAM_RSA_N),
                let exponent = handle.number(OSSL_PKEY_PARAM_RSA_E)
            else {
                throw CryptoError(.invalidKey, "an RSA key without its modulus or exponent")
            }
            self = .rsa(try RSAPublicKey(modulus: modulus, exponent: exponent))
        case EVP_PKEY_EC:
            guard let curve = handle.groupName.flatMap(EllipticCurve.init(groupName:)) else {
                throw CryptoError(.unsupportedKey, "a key on a curve other than P-256 and P-384")
            }
            guard let x = handle.number(OSSL_PKEY_PARAM_EC_PUB_X), let y = handle.number(OSSL_PKEY_PARAM_EC_PUB_Y),
                x.count <= curve.coordinateSize, y.count <= curve.coordinateSize
            else {
                throw CryptoError(.invalidKey, "a key without its public point")
            }
            let point = [x, y].reduce(into: [0x04]) { point, coordinate in
                point += [UInt8](repeating: 0, count: curve.coordinateSize - coordinate.count) + coordinate
            }
            self = .ec(try ECPublicKey(curve: curve, x963: point))
        default:
            throw CryptoError(.unsupportedKey, "a key that is neither RSA nor elliptic-curve")
        }
    }

    /// The SubjectPublicKeyInfo of the key in PEM (RFC 7468, section 13), which `init(pem:)` reads.
    ///
    /// - Throws: ``CryptoError`` (`operation_failed`) when memory is short.
    public func pem() throws(CryptoError) -> [UInt8] {
        let buffer = try PEMBuffer()
        guard PEM_write_bio_PUBKEY(buffer.pointer, handle.pointer) == 1 else {
            throw .fromQueue(.operationFailed, "the public key cannot be written")
        }
        return buffer.contents()
    }

    /// Whether a signature over a message is valid.
    ///
    /// - `signature`: in DER for ECDSA (RFC 3279, section 2.2.3), and as long as the modulus for RSA.
    /// - `algorithm`: how it claims to be made. One of another kind than the key's makes it invalid.
    public func isValidSignature(
        _ signature: ArraySlice<UInt8>, by algorithm: SignatureAlgorithm, message: ArraySlice<UInt8>
    ) -> Bool {
        switch (self, algorithm) {
        case (.ec(let key), .ecdsa(let digest)):
            key.isValidSignature(der: signature, digest: digest, message: message)
        case (.rsa(let key), .rsaPKCS1(let digest)):
            key.isValidSignature(signature, digest: digest, message: message)
        case (.rsa(let key), .rsaPSS(let digest)):
            key.isValidPSSSignature(signature, digest: digest, message: message)
        case (.ec, _), (.rsa, .ecdsa):
            false
        }
    }

    private var handle: KeyHandle {
        switch self {
        case .rsa(let key): key.handle
        case .ec(let key): key.handle
        }
    }
}

extension PublicKey {
    /// The key in a certificate in PEM (`BEGIN CERTIFICATE`); nothing else in the certificate is checked.
    ///
    /// It is for certificates in a configuration that only carry a key.
    ///
    /// - Throws: ``CryptoError``: `invalid_key` for text that is not a certificate, `unsupported_key` for a key that is
    ///   neither RSA of 2048 to 4096 bits nor on P-256 or P-384, `invalid_argument` beyond 16 KiB.
    public init(certificatePEM text: some Collection<UInt8>) throws(CryptoError) {
        guard text.count <= PEMBuffer.maximumByteCount else {
            throw CryptoError(.invalidArgument, "a PEM text of more than \(PEMBuffer.maximumByteCount) bytes")
        }
        guard PEMBuffer.hasBlock("CERTIFICATE", in: text) else {
            throw CryptoError(.invalidKey, "no PEM block BEGIN CERTIFICATE")
        }
        let bytes = Array(text)
        let handle = try bytes.withUnsafeBufferPointer { bytes throws(CryptoError) in
            let buffer = try PEMBuffer()
            try buffer.write(bytes)
            guard let certificate = PEM_read_bio_X509(buffer.pointer, nil, nil, nil) else {
                throw .fromQueue(.invalidKey, "the PEM text holds no certificate")
            }
            defer { X509_free(certificate) }
            guard let key = X509_get_pubkey(certificate) else {
                throw .fromQueue(.unsupportedKey, "the certificate holds no key that is known")
            }
            return KeyHandle(owning: key)
        }
        try self.init(handle: handle)
    }
}
