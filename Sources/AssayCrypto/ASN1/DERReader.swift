/// Reads elements one after the other, in the distinguished encoding only (X.690, section 10).
///
/// A reader never descends by itself: whoever wants what is inside an element opens a reader on it. Depth is therefore
/// bounded by the code that reads, and work by the length of the bytes.
package struct DERReader: Sendable {
    /// What was not read yet.
    package private(set) var remaining: ArraySlice<UInt8>

    package init(_ bytes: ArraySlice<UInt8>) {
        remaining = bytes
    }

    /// Whether everything was read.
    package var isAtEnd: Bool { remaining.isEmpty }
    /// Where the next element starts: an index of the array that is read.
    package var offset: Int { remaining.startIndex }

    /// The next element, whatever it is.
    package mutating func next() throws(ASN1Error) -> ASN1Element {
        let header = try ASN1Header(of: remaining)
        guard let contentCount = header.contentCount else { throw ASN1Error(.lengthIndefinite, at: offset) }
        guard contentCount <= remaining.count - header.count else { throw ASN1Error(.truncated, at: offset) }
        let encoded = remaining.prefix(header.count + contentCount)
        remaining = remaining[encoded.endIndex...]
        return ASN1Element(tag: header.tag, encoded: encoded, content: encoded.dropFirst(header.count))
    }

    /// The next element, which must have this tag.
    package mutating func next(_ tag: ASN1Tag) throws(ASN1Error) -> ASN1Element {
        let start = offset
        let element = try next()
        guard element.tag == tag else { throw ASN1Error(.tagUnexpected, at: start) }
        return element
    }

    /// The next element when it has this tag; nil, and nothing read, when it has another or there is none.
    package mutating func nextIfPresent(_ tag: ASN1Tag) throws(ASN1Error) -> ASN1Element? {
        guard !isAtEnd, try ASN1Header(of: remaining).tag == tag else { return nil }
        return try next()
    }

    /// Refuses bytes behind the last element.
    package func finish() throws(ASN1Error) {
        guard isAtEnd else { throw ASN1Error(.trailingBytes, at: offset) }
    }

    /// The one element that these bytes are, which must have this tag.
    package static func single(_ tag: ASN1Tag, in bytes: ArraySlice<UInt8>) throws(ASN1Error) -> ASN1Element {
        var reader = DERReader(bytes)
        let element = try reader.next(tag)
        try reader.finish()
        return element
    }
}
