/// An RSA key whose owner signs without seeing what (RFC 9474): its form in Privacy Pass, and the signatures by it.
///
/// The variant is RSABSSA-SHA384-PSS-Deterministic (RFC 9578, section 6): finished signatures are RSASSA-PSS with SHA-384, MGF1
/// with SHA-384 and a salt of 48 bytes.
public struct BlindRSAPublicKey: Sendable, Hashable {
    /// The modulus and the exponent.
    public let key: RSAPublicKey
    /// The DER of the SubjectPublicKeyInfo with id-RSASSA-PSS and the explicit parameters of the variant (RFC 9578, section 6.5;
    /// RFC 4055, section 3.1): 342 bytes for 2048 bits and the exponent 65537.
    public let subjectPublicKeyInfo: [UInt8]
    /// SHA-256 of ``subjectPublicKeyInfo``: the `token_key_id` of tokens.
    public let identifier: [UInt8]

    /// The key for blind signatures with these numbers.
    ///
    /// Such a key must be used for nothing else (RFC 9474, section 7.4).
    public init(_ key: RSAPublicKey) {
        self.key = key
        subjectPublicKeyInfo = Self.encoded(key, Self.algorithm())
        identifier = SHA256.hash(subjectPublicKeyInfo)
    }

    /// A key from the DER of its SubjectPublicKeyInfo.
    ///
    /// It has the form of ``subjectPublicKeyInfo``, or NULL as the parameters of each digest, as OpenSSL writes it (RFC 4055,
    /// section 2.1). The identifier of both is that of the first form.
    ///
    /// - Throws: ``CryptoError``: `invalid_key` for any other bytes, such as a key with the identifier rsaEncryption or with other
    ///   parameters, and for numbers that are not a safe key; `unsupported_key` unless the modulus has 2048 to 4096 bits.
    public init(subjectPublicKeyInfo der: some Collection<UInt8>) throws(CryptoError) {
        let malformed = CryptoError(
            .invalidKey, "not a SubjectPublicKeyInfo with id-RSASSA-PSS, SHA-384 and a salt of 48 bytes")
        guard der.count <= 1024 else { throw malformed }
        let bytes = Array(der)
        let algorithm: [UInt8]
        let numbers: (modulus: ArraySlice<UInt8>, exponent: ArraySlice<UInt8>)
        do throws(ASN1Error) {
            var fields = try DERReader.single(.sequence, in: bytes[...]).reader
            let found = try fields.next(.sequence).encoded
            let forms = [Self.algorithm(), Self.algorithm(parameters: [0x05, 0x00])]
            guard let known = forms.first(where: found.elementsEqual) else { throw ASN1Error(.tagUnexpected, at: 0) }
            algorithm = known
            var key = try DERReader.single(.sequence, in: fields.octetsOfBitString()).reader
            try fields.finish()
            numbers = (try key.integer(), try key.integer())
            try key.finish()
        } catch {
            throw malformed
        }
        self.init(try RSAPublicKey(modulus: numbers.modulus, exponent: numbers.exponent))
        // Negative numbers would be read as large ones.
        guard Self.encoded(key, algorithm) == bytes else { throw malformed }
    }

    /// Whether a finished signature over a message is valid (RFC 9474, section 4.5): one RSA verification.
    ///
    /// It must be as long as the modulus, and its salt must have 48 bytes.
    public func isValidSignature(_ signature: ArraySlice<UInt8>, message: ArraySlice<UInt8>) -> Bool {
        key.isValidPSSSignature(signature, digest: .sha384, message: message)
    }

    private static func encoded(_ key: RSAPublicKey, _ algorithm: [UInt8]) -> [UInt8] {
        value(0x30, algorithm + value(0x03, [0] + value(0x30, integer(key.modulus) + integer(key.exponent))))
    }

    /// `AlgorithmIdentifier`: id-RSASSA-PSS with SHA-384, MGF1 with SHA-384 and the salt length 48, and the default trailer.
    ///
    /// - Parameter digest: the parameters of both digests.
    private static func algorithm(parameters digest: [UInt8] = []) -> [UInt8] {
        let sha384 = value(0x30, value(0x06, Array(OID.sha384.content)) + digest)
        let mask = value(0x30, value(0x06, Array(OID.mgf1.content)) + sha384)
        let parameters = value(0xA0, sha384) + value(0xA1, mask) + value(0xA2, value(0x02, [UInt8(SHA384.byteCount)]))
        return value(0x30, value(0x06, Array(OID.rsaPSS.content)) + value(0x30, parameters))
    }

    /// One value in the distinguished encoding, with fewer than 65,536 bytes.
    private static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let high = UInt8(truncatingIfNeeded: content.count >> 8)
        let low = UInt8(truncatingIfNeeded: content.count)
        return switch content.count {
        case ..<0x80: [tag, low] + content
        case ..<0x100: [tag, 0x81, low] + content
        default: [tag, 0x82, high, low] + content
        }
    }

    /// A positive INTEGER of big-endian digits without leading zeros.
    private static func integer(_ digits: [UInt8]) -> [UInt8] {
        value(0x02, digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits)
    }
}
