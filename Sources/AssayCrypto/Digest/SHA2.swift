/// SHA-256 (FIPS 180-4).
///
/// An instance is a running digest; ``hash(_:)`` is shorter where all bytes are available.
public struct SHA256: ~Copyable {
    /// The length of a digest, in bytes.
    public static let byteCount = 32

    private var context = DigestContext(.sha256)

    /// A digest over nothing yet.
    public init() {}

    /// Adds a part of the message.
    public mutating func update(_ bytes: some Collection<UInt8>) {
        context.update(bytes)
    }

    /// The digest of all parts; 32 bytes.
    public consuming func finalize() -> [UInt8] {
        context.finish()
    }

    /// The digest of a message; 32 bytes.
    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var context = DigestContext(.sha256)
        context.update(bytes)
        return context.finish()
    }

    /// The digest of the concatenation of two parts; 32 bytes.
    public static func hash(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> [UInt8] {
        var context = DigestContext(.sha256)
        context.update(first)
        context.update(second)
        return context.finish()
    }

    /// The digest of the concatenation of two slices; 32 bytes.
    public static func hash(_ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>) -> [UInt8] {
        var context = DigestContext(.sha256)
        context.update(first)
        context.update(second)
        return context.finish()
    }

    /// The digest of the concatenation of several parts; 32 bytes.
    public static func hash(
        _ first: ArraySlice<UInt8>, _ second: ArraySlice<UInt8>, _ third: ArraySlice<UInt8>,
        _ more: ArraySlice<UInt8>...
    ) -> [UInt8] {
        var context = DigestContext(.sha256)
        context.update(first)
        context.update(second)
        context.update(third)
        for part in more { context.update(part) }
        return context.finish()
    }
}

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
