internal import CLibCrypto

/// A public key on P-256 or P-384 that verifies ECDSA signatures.
///
/// Making one costs about 10 µs and verifying with it 50 µs (P-256), so a key that is used again is worth keeping.
public struct ECPublicKey: Sendable {
    /// The curve of the point.
    public let curve: EllipticCurve
    /// The point, uncompressed: `04 ‖ X ‖ Y` (SEC 1, section 2.3.3); 65 or 97 bytes.
    public let x963: [UInt8]

    let handle: KeyHandle
    private let verification: KeyOperation

    /// A key from its uncompressed point.
    ///
    /// - Throws: ``CryptoError`` (`invalid_key`) unless the bytes are `04 ‖ X ‖ Y` of a point on the curve. Compressed
    ///   and hybrid forms are refused, and the point at infinity has no uncompressed form.
    public init(curve: EllipticCurve, x963: some Collection<UInt8>) throws(CryptoError) {
        let size = 1 + 2 * curve.coordinateSize
        guard x963.count == size, x963.first == 0x04 else {
            throw CryptoError(.invalidKey, "not an uncompressed \(curve.jwkName) point of \(size) bytes")
        }
        let bytes = Array(x963)
        guard let key = EVP_PKEY_new() else {
            throw .fromQueue(.operationFailed, "no memory for a key")
        }
        let handle = KeyHandle(owning: key)
        // Copying the curve from a template avoids both the decoder framework and a curve looked up by its name.
        guard EVP_PKEY_copy_parameters(key, try CurveTemplate.of(curve).pointer) == 1 else {
            throw .fromQueue(.operationFailed, "cannot set a key's curve")
        }
        guard EVP_PKEY_set1_encoded_public_key(key, bytes, bytes.count) == 1 else {
            throw .fromQueue(.invalidKey, "not a point on \(curve.jwkName)")
        }
        try self.init(curve: curve, x963: bytes, handle: handle)
    }

    /// A key whose handle is known to hold this point.
    init(curve: EllipticCurve, x963: [UInt8], handle: KeyHandle) throws(CryptoError) {
        self.curve = curve
        self.x963 = x963
        self.handle = handle
        self.verification = try KeyOperation(.verify, key: handle, padding: nil)
    }

    /// Whether a DER signature (RFC 3279, section 2.2.3) over a message is valid.
    ///
    /// Only the one strict encoding is accepted: minimal positive INTEGERs with 1 ≤ r, s < n, without over-long forms
    /// or trailing bytes. A high `s` is accepted, because Apple's devices produce both.
    public func isValidSignature(
        der signature: ArraySlice<UInt8>, digest: DigestAlgorithm, message: ArraySlice<UInt8>
    ) -> Bool {
        isValid(der: signature, digest: digest) { hasher in hasher.update(message) }
    }

    /// Whether a DER signature over the concatenation of several parts is valid; see
    /// ``isValidSignature(der:digest:message:)``.
    public func isValidSignature(
        der signature: ArraySlice<UInt8>, digest: DigestAlgorithm, messageParts parts: ArraySlice<UInt8>...
    ) -> Bool {
        isValid(der: signature, digest: digest) { hasher in
            for part in parts { hasher.update(part) }
        }
    }

    /// Whether a signature of the form `r ‖ s`, each as long as a coordinate (RFC 7518, section 3.4), is valid.
    public func isValidSignature(
        raw signature: ArraySlice<UInt8>, digest: DigestAlgorithm, message: ArraySlice<UInt8>
    ) -> Bool {
        isValid(raw: signature, digest: digest) { hasher in hasher.update(message) }
    }

    func isValidSignature(
        raw signature: UnsafeBufferPointer<UInt8>, digest: DigestAlgorithm, message: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        isValid(raw: signature, digest: digest) { hasher in hasher.update(message) }
    }

    /// Whether a raw signature over the concatenation of several parts is valid; see
    /// ``isValidSignature(raw:digest:message:)``.
    public func isValidSignature(
        raw signature: ArraySlice<UInt8>, digest: DigestAlgorithm, messageParts parts: ArraySlice<UInt8>...
    ) -> Bool {
        isValid(raw: signature, digest: digest) { hasher in
            for part in parts { hasher.update(part) }
        }
    }

    private func isValid(
        der signature: ArraySlice<UInt8>, digest: DigestAlgorithm, _ feed: (inout DigestContext) -> Void
    ) -> Bool {
        signature.withUnsafeBufferPointer { signature in
            guard ECDSASignatureFormat.isStrictDER(signature, curve: curve) else { return false }
            return isValid(strictDER: signature, digest: digest, feed)
        }
    }

    private func isValid(
        raw signature: ArraySlice<UInt8>, digest: DigestAlgorithm, _ feed: (inout DigestContext) -> Void
    ) -> Bool {
        signature.withUnsafeBufferPointer { isValid(raw: $0, digest: digest, feed) }
    }

    private func isValid(
        raw signature: UnsafeBufferPointer<UInt8>, digest: DigestAlgorithm, _ feed: (inout DigestContext) -> Void
    ) -> Bool {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ECDSASignatureFormat.maximumDERCount) { der in
            guard let count = ECDSASignatureFormat.writeDER(raw: signature, curve: curve, into: der) else {
                return false
            }
            return isValid(strictDER: UnsafeBufferPointer(rebasing: der[..<count]), digest: digest, feed)
        }
    }

    private func isValid(
        strictDER signature: UnsafeBufferPointer<UInt8>, digest: DigestAlgorithm,
        _ feed: (inout DigestContext) -> Void
    ) -> Bool {
        var context = DigestContext(digest)
        feed(&context)
        return context.finish { verification.isValid(signature: signature, digest: $0) }
    }
}

extension ECPublicKey: Hashable {
    /// Compares the points in their uncompressed form (X9.63).
    public static func == (left: ECPublicKey, right: ECPublicKey) -> Bool {
        left.x963 == right.x963
    }

    /// Hashes the point in its uncompressed form (X9.63).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(x963)
    }
}

/// A key of each curve, of which only the curve is used.
private enum CurveTemplate {
    private static let p256 = make(.p256)
    private static let p384 = make(.p384)

    static func of(_ curve: EllipticCurve) throws(CryptoError) -> KeyHandle {
        switch curve {
        case .p256: try p256.get()
        case .p384: try p384.get()
        }
    }

    private static func make(_ curve: EllipticCurve) -> Result<KeyHandle, CryptoError> {
        guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else {
            return .failure(.fromQueue(.operationFailed, "OpenSSL offers no elliptic curves"))
        }
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard EVP_PKEY_paramgen_init(context) == 1, EVP_PKEY_CTX_set_group_name(context, curve.groupName) == 1,
            EVP_PKEY_paramgen(context, &key) == 1, let key
        else {
            return .failure(.fromQueue(.operationFailed, "OpenSSL does not offer \(curve.jwkName)"))
        }
        return .success(KeyHandle(owning: key))
    }
}
