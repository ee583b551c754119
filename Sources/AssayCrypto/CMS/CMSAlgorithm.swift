/// Reads the algorithm identifiers of a signed message: each has one known spelling, or two.
enum CMSAlgorithm {
    /// SHA-256; its parameters are absent or NULL, which mean the same (RFC 5754, section 2).
    static func readSHA256(_ reader: inout DERReader) throws {
        var fields = try reader.next(.sequence).reader
        guard try fields.objectIdentifier() == .sha256 else { throw CMSError(.algorithmUnsupported) }
        if !fields.isAtEnd { try fields.null() }
        try fields.finish()
    }

    /// ECDSA with SHA-256, without parameters (RFC 5754, section 3.3).
    static func readECDSAWithSHA256(_ fields: inout DERReader) throws {
        guard try fields.objectIdentifier() == .ecdsaWithSHA256 else { throw CMSError(.algorithmUnsupported) }
        try fields.finish()
    }
}
