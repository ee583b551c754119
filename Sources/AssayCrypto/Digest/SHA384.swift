/// SHA-384 (FIPS 180-4).
public enum SHA384: Sendable {
    /// The length of a digest, in bytes.
    public static let byteCount = 48

    /// The digest of a message; 48 bytes.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var context = DigestContext(.sha384)
        context.update(bytes)
        return context.finish()
    }
}
