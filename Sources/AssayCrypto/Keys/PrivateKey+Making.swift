internal import CLibCrypto

extension PrivateKey {
    /// Generates a key with OpenSSL's random generator; for RSA this needs tenths of a second to seconds.
    ///
    /// - Throws: ``CryptoError``: `unsupported_key` for RSA of other than 2048, 3072 or 4096 bits, `operation_failed`
    ///   when OpenSSL fails.
    public static func generate(_ kind: KeyKind) throws(CryptoError) -> PrivateKey {
        let type: String
        switch kind {
        case .rsa(let bits):
            guard [2048, 3072, 4096].contains(bits) else {
                throw CryptoError(.unsupportedKey, "RSA keys are made with 2048, 3072 or 4096 bits, not \(bits)")
            }
            type = "RSA"
        case .ec:
            type = "EC"
        }
        guard let context = EVP_PKEY_CTX_new_from_name(nil, type, nil) else {
            throw .fromQueue(.operationFailed, "OpenSSL offers no keys of type \(type)")
        }
        defer { EVP_PKEY_CTX_free(context) }
        var isReady = EVP_PKEY_keygen_init(context) == 1
        switch kind {
        case .rsa(let bits):
            isReady = isReady && EVP_PKEY_CTX_set_rsa_keygen_bits(context, Int32(clamping: bits)) == 1
        case .ec(let curve):
            isReady = isReady && EVP_PKEY_CTX_set_group_name(context, curve.groupName) == 1
        }
        var key: OpaquePointer?
        guard isReady, EVP_PKEY_generate(context, &key) == 1, let key else {
            throw .fromQueue(.operationFailed, "the key cannot be made")
        }
        return try PrivateKey(handle: KeyHandle(owning: key))
    }

    /// The P-256 key with a given scalar, 32 bytes; for tests that need the same key each time.
    ///
    /// - Throws: ``CryptoError`` (`invalid_key`) unless the scalar is in 1..<n.
    package init(p256Scalar scalar: [UInt8]) throws(CryptoError) {
        guard scalar.count == EllipticCurve.p256.coordinateSize else {
            throw CryptoError(.invalidKey, "a P-256 scalar has 32 bytes")
        }
        var parameters = KeyParameters()
        parameters.add(OSSL_PKEY_PARAM_GROUP_NAME, text: EllipticCurve.p256.groupName)
        parameters.add(OSSL_PKEY_PARAM_PUB_KEY, octets: try Self.p256Point(of: scalar))
        parameters.add(OSSL_PKEY_PARAM_PRIV_KEY, number: scalar)
        try self.init(handle: try parameters.makeKey(type: "EC", isPrivate: true))
    }

    /// The public point that belongs to a scalar.
    private static func p256Point(of scalar: [UInt8]) throws(CryptoError) -> [UInt8] {
        let group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1)
        defer { EC_GROUP_free(group) }
        let point = group.flatMap { EC_POINT_new($0) }
        defer { EC_POINT_free(point) }
        let number = BN_bin2bn(scalar, Int32(clamping: scalar.count), nil)
        defer { BN_clear_free(number) }
        guard let group, let point, let number else {
            throw .fromQueue(.operationFailed, "no memory for a key")
        }
        guard BN_is_zero(number) == 0, BN_cmp(number, EC_GROUP_get0_order(group)) < 0 else {
            throw CryptoError(.invalidKey, "a P-256 scalar is in 1..<n")
        }
        var bytes = [UInt8](repeating: 0, count: 1 + 2 * EllipticCurve.p256.coordinateSize)
        let isWritten =
            EC_POINT_mul(group, point, number, nil, nil, nil) == 1
            && EC_POINT_point2oct(group, point, POINT_CONVERSION_UNCOMPRESSED, &bytes, bytes.count, nil) == bytes.count
        guard isWritten else { throw .fromQueue(.operationFailed, "the public point cannot be computed") }
        return bytes
    }
}
