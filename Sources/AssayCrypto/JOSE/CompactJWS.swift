/// A token in JWS compact form (RFC 7515, section 7.1), taken apart; nothing in it is trusted before ``verify(with:)``.
public struct CompactJWS: Sendable {
    /// The largest token that is looked at, in bytes.
    public static let maximumByteCount = 16_384

    /// The header.
    public let header: JWSHeader
    /// The payload, decoded; anybody may have written it until the signature is verified.
    public let payload: [UInt8]
    /// The bytes that are signed: the first two parts as they came.
    public let signingInput: ArraySlice<UInt8>
    /// The signature, decoded.
    public let signature: [UInt8]

    /// Takes a token apart.
    ///
    /// - Throws: ``JWSError``: `malformed` or `unsupportedAlgorithm`.
    public static func parse(utf8 token: ArraySlice<UInt8>) throws(JWSError) -> CompactJWS {
        let parts = try JWSParts(token)
        guard let json = parts.header.withUnsafeBufferPointer(Base64URL.decode) else { throw .malformed(.encoding) }
        let header = try JWSHeader(json: json)
        guard let payload = parts.payload.withUnsafeBufferPointer(Base64URL.decode),
            let signature = parts.signature.withUnsafeBufferPointer(Base64URL.decode)
        else { throw .malformed(.encoding) }
        return CompactJWS(header: header, payload: payload, signingInput: parts.signingInput, signature: signature)
    }

    /// Verifies the signature with a key that the caller chose.
    ///
    /// - Throws: ``JWSError``: `algorithmMismatch` unless the header's `alg` is the one that goes with the key's type,
    ///   `badSignature` unless the signature is the key's.
    public func verify(with key: PublicKey) throws(JWSError) {
        guard header.algorithm == JWSAlgorithm(for: key) else { throw .algorithmMismatch }
        let digest = header.algorithm.digest
        let isValid =
            switch key {
            case .rsa(let key):
                key.isValidSignature(signature[...], digest: digest, message: signingInput)
            case .ec(let key):
                key.isValidSignature(raw: signature[...], digest: digest, message: signingInput)
            }
        guard isValid else { throw .badSignature }
    }
}
