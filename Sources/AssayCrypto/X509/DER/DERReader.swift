/// Reads elements one after the other, in the distinguished encoding only (X.690, section 10).
///
/// A reader never descends on its own: code that needs the elements inside an element opens a reader on it. So that
/// code limits the depth, and the number of bytes limits the work. Nothing is copied: results are slices of the bytes.
///
///     var fields = try DERReader.single(.sequence, in: value).reader
///     let version = try fields.smallInteger()
///     let name = try fields.octetString()
///     try fields.finish()
public struct DERReader: Sendable {
    /// What was not read yet.
    public private(set) var remaining: ArraySlice<UInt8>

    /// A reader of these bytes, from their start.
    public init(_ bytes: ArraySlice<UInt8>) {
        remaining = bytes
    }

    /// Whether everything was read.
    public var isAtEnd: Bool { remaining.isEmpty }
    /// Where the next element starts: an index of the array that is read.
    public var offset: Int { remaining.startIndex }

    /// The next element, with any tag.
    ///
    /// - Throws: ``ASN1Error`` at the end, and for an element that is malformed or longer than the remaining bytes.
    public mutating func next() throws(ASN1Error) -> ASN1Element {
        let header = try ASN1Header(of: remaining)
        guard let contentCount = header.contentCount else { throw ASN1Error(.lengthIndefinite, at: offset) }
        guard contentCount <= remaining.count - header.count else { throw ASN1Error(.truncated, at: offset) }
        let encoded = remaining.prefix(header.count + contentCount)
        remaining = remaining[encoded.endIndex...]
        return ASN1Element(tag: header.tag, encoded: encoded, headerCount: header.count)
    }

    /// The next element, which must have this tag.
    public mutating func next(_ tag: ASN1Tag) throws(ASN1Error) -> ASN1Element {
        let start = offset
        let element = try next()
        guard element.tag == tag else { throw ASN1Error(.tagUnexpected, at: start) }
        return element
    }

    /// The next element if it has this tag.
    ///
    /// Otherwise nothing is read, and the result is nil.
    public mutating func nextIfPresent(_ tag: ASN1Tag) throws(ASN1Error) -> ASN1Element? {
        guard !isAtEnd, try ASN1Header(of: remaining).tag == tag else { return nil }
        return try next()
    }

    /// Refuses bytes after the last element that was read.
    public func finish() throws(ASN1Error) {
        guard isAtEnd else { throw ASN1Error(.trailingBytes, at: offset) }
    }

    /// The one element that these bytes consist of, which must have this tag.
    public static func single(_ tag: ASN1Tag, in bytes: ArraySlice<UInt8>) throws(ASN1Error) -> ASN1Element {
        var reader = DERReader(bytes)
        let element = try reader.next(tag)
        try reader.finish()
        return element
    }
}
