extension SignatureAlgorithm {
    /// Reads an `AlgorithmIdentifier`; nil for an unknown algorithm or unknown parameters.
    init?(reading element: ASN1Element, _ allowed: Certificate.Deviations = []) throws(ASN1Error) {
        var fields = element.reader
        switch try fields.objectIdentifier() {
        case .ecdsaWithSHA256: self = .ecdsa(.sha256)
        case .ecdsaWithSHA384: self = .ecdsa(.sha384)
        case .ecdsaWithSHA512: self = .ecdsa(.sha512)
        case .rsaWithSHA256: self = .rsaPKCS1(.sha256)
        case .rsaWithSHA384: self = .rsaPKCS1(.sha384)
        case .rsaWithSHA512: self = .rsaPKCS1(.sha512)
        case .rsaPSS:
            guard let digest = try Self.digest(ofPSS: &fields) else { return nil }
            self = .rsaPSS(digest)
        default: return nil
        }
        // ECDSA has no parameters (RFC 5758, section 3.2); those of PKCS #1 v1.5 are NULL or absent (RFC 4055, section 5).
        let mayHaveNull =
            switch self {
            case .rsaPKCS1: true
            case .ecdsa: allowed.contains(.nullParametersOfECDSA)
            case .rsaPSS: false
            }
        if mayHaveNull, !fields.isAtEnd { try fields.null() }
        guard fields.isAtEnd else { return nil }
    }

    /// Whether the algorithm is ECDSA with any digest.
    var isECDSA: Bool {
        if case .ecdsa = self { true } else { false }
    }

    /// The digest of `RSASSA-PSS-params` (RFC 4055, section 3.1), when the mask uses the same one and the salt is as long.
    private static func digest(ofPSS fields: inout DERReader) throws(ASN1Error) -> DigestAlgorithm? {
        var parameters = try fields.next(.sequence).reader
        guard var hash = try parameters.nextIfPresent(.context(0))?.reader,
            var mask = try parameters.nextIfPresent(.context(1))?.reader,
            var salt = try parameters.nextIfPresent(.context(2))?.reader
        else { return nil }
        guard let digest = try DigestAlgorithm(reading: &hash), hash.isAtEnd else { return nil }
        var generator = try mask.next(.sequence).reader
        guard mask.isAtEnd, try generator.objectIdentifier() == .mgf1,
            try DigestAlgorithm(reading: &generator) == digest, generator.isAtEnd
        else { return nil }
        guard try salt.smallInteger() == digest.byteCount, salt.isAtEnd, parameters.isAtEnd else { return nil }
        return digest
    }
}

extension DigestAlgorithm {
    /// Reads the `AlgorithmIdentifier` of a digest; nil for an unknown one.
    ///
    /// Its parameters are absent or NULL, which mean the same (RFC 5754, section 2).
    init?(reading reader: inout DERReader) throws(ASN1Error) {
        var fields = try reader.next(.sequence).reader
        switch try fields.objectIdentifier() {
        case .sha256: self = .sha256
        case .sha384: self = .sha384
        case .sha512: self = .sha512
        default: return nil
        }
        if !fields.isAtEnd { try fields.null() }
        try fields.finish()
    }
}
