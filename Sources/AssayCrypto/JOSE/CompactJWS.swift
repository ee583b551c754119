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
        try CompactJWS(parts: JWSParts(token)) { text throws(JWSError) in
            guard let json = text.withUnsafeBufferPointer(Base64URL.decode) else { throw .malformed(.encoding) }
            return try JWSHeader(json: json)
        }
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

    init(
        parts: JWSParts, header: (ArraySlice<UInt8>) throws(JWSError) -> JWSHeader
    ) throws(JWSError) {
        self.header = try header(parts.header)
        guard let payload = parts.payload.withUnsafeBufferPointer(Base64URL.decode),
            let signature = parts.signature.withUnsafeBufferPointer(Base64URL.decode)
        else { throw .malformed(.encoding) }
        self.payload = payload
        self.signature = signature
        signingInput = parts.signingInput
    }
}
