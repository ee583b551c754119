/// Signs tokens with one key; the header is encoded once.
public struct JWSSigner: Sendable {
    /// How tokens are signed: the only algorithm of the key.
    public let algorithm: JWSAlgorithm
    /// The key's identifier, as the header names it.
    public let keyID: String

    private let key: PrivateKey
    /// The encoded header and the dot after it.
    private let head: [UInt8]

    /// A signer whose header is exactly `{"kid":…,"typ":"JWT","alg":…}`.
    ///
    /// - Throws: ``CryptoError`` (`unsupported_key`) when `algorithm` is not the key's algorithm.
    public init(key: PrivateKey, keyID: String, algorithm: JWSAlgorithm) throws(CryptoError) {
        guard algorithm == JWSAlgorithm(for: key.publicKey) else {
            throw CryptoError(.unsupportedKey, "\(algorithm.rawValue) needs another key than \(key.kind)")
        }
        self.algorithm = algorithm
        self.keyID = keyID
        self.key = key
        head = JWSHeader.encoded(keyID: keyID, algorithm: algorithm) + [UInt8(ascii: ".")]
    }

    /// A token in compact form (RFC 7515, section 7.1) over a payload.
    ///
    /// - Throws: ``CryptoError`` (`operation_failed`) when OpenSSL fails.
    public func sign(payload: [UInt8]) throws(CryptoError) -> String {
        try sign(payload, head: head)
    }

    /// A token with another type than JWT: `typ` distinguishes it (RFC 8725, section 3.11).
    ///
    /// - Throws: ``CryptoError`` (`operation_failed`) when OpenSSL fails.
    public func sign(payload: [UInt8], type: String) throws(CryptoError) -> String {
        try sign(
            payload,
            head: JWSHeader.encoded(keyID: keyID, algorithm: algorithm, type: type) + [UInt8(ascii: ".")])
    }

    private func sign(_ payload: [UInt8], head: [UInt8]) throws(CryptoError) -> String {
        var token: [UInt8] = []
        token.reserveCapacity(head.count + Base64URL.encodedCount(payload.count) + Self.maximumSignatureTextCount)
        token += head
        Base64URL.append(payload, to: &token)
        let signature = try key.sign(token, as: .raw)
        token.append(UInt8(ascii: "."))
        Base64URL.append(signature, to: &token)
        return String(decoding: token, as: UTF8.self)
    }

    /// The dot and the longest signature: RSA of 4096 bits.
    private static let maximumSignatureTextCount = 1 + 683
}
