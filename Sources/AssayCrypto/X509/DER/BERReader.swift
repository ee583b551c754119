/// Reads the part of BER that signed messages use: outer elements whose length may be indefinite (X.690, section 8.1.3.6).
///
/// One reader reads one message in one of two forms: either all framed elements have a definite length, or all have an
/// indefinite length. The first frame decides which; a message that mixes them is refused. Everything else, and all
/// lengths, must be in the shortest form.
package struct BERReader: Sendable {
    /// An element that was opened and not closed yet.
    package struct Frame: Sendable {
        /// Where the content ends; nil where end-of-contents octets end it.
        fileprivate let end: Int?
        /// Where the content of the surrounding element ends.
        fileprivate let outerLimit: Int
    }

    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private var limit: Int
    private var indefinite: Bool?

    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
        limit = bytes.endIndex
    }

    /// Whether framed elements have an indefinite length; false until the first one was opened.
    package var isIndefinite: Bool { indefinite ?? false }
    /// Where the next element starts.
    package var offset: Int { position }

    /// Enters an element that is made of elements.
    package mutating func open(_ tag: ASN1Tag) throws(ASN1Error) -> Frame {
        let header = try ASN1Header(of: bytes[position..<limit])
        guard header.tag == tag else { throw ASN1Error(.tagUnexpected, at: position) }
        let outerLimit = limit
        let content = position + header.count
        guard (header.contentCount == nil) == (indefinite ?? (header.contentCount == nil)) else {
            throw ASN1Error(header.contentCount == nil ? .lengthIndefinite : .endOfContentsMissing, at: position)
        }
        if let contentCount = header.contentCount {
            guard contentCount <= limit - content else { throw ASN1Error(.truncated, at: position) }
            limit = content + contentCount
        }
        indefinite = header.contentCount == nil
        position = content
        return Frame(end: header.contentCount.map { content + $0 }, outerLimit: outerLimit)
    }

    /// Whether the innermost open element has nothing more to read.
    package func isAtEnd(of frame: Frame) -> Bool {
        if let end = frame.end { return position == end }
        return limit - position >= 2 && bytes[position] == 0 && bytes[position + 1] == 0
    }

    /// Leaves the element that was opened last; everything in it must have been read.
    package mutating func close(_ frame: Frame) throws(ASN1Error) {
        guard isAtEnd(of: frame) else {
            throw ASN1Error(frame.end == nil ? .endOfContentsMissing : .trailingBytes, at: position)
        }
        if frame.end == nil { position += 2 }
        limit = frame.outerLimit
    }

    /// The next element, with definite length and this tag; its content must be DER.
    package mutating func next(_ tag: ASN1Tag) throws(ASN1Error) -> ASN1Element {
        var reader = DERReader(bytes[position..<limit])
        let element = try reader.next(tag)
        position = reader.offset
        return element
    }

    /// The content of an OCTET STRING, in one piece, or in parts of `partSize` bytes, of which the last may be shorter.
    ///
    /// It is in parts if and only if this message has indefinite lengths.
    package mutating func octetString(partSize: Int, limit byteLimit: Int) throws(ASN1Error) -> [UInt8] {
        guard isIndefinite else {
            let element = try next(.octetString)
            guard element.content.count <= byteLimit else {
                throw ASN1Error(.tooLarge, at: element.encoded.startIndex)
            }
            return Array(element.content)
        }
        let frame = try open(.constructedOctetString)
        var content: [UInt8] = []
        var sawLast = false
        while !isAtEnd(of: frame) {
            let part = try next(.octetString)
            guard !sawLast, (1...partSize).contains(part.content.count) else {
                throw ASN1Error(.partsMalformed, at: part.encoded.startIndex)
            }
            guard part.content.count <= byteLimit - content.count else {
                throw ASN1Error(.tooLarge, at: part.encoded.startIndex)
            }
            sawLast = part.content.count < partSize
            content += part.content
        }
        try close(frame)
        return content
    }

    /// Refuses bytes after the last element.
    package func finish() throws(ASN1Error) {
        guard position == bytes.endIndex else { throw ASN1Error(.trailingBytes, at: position) }
    }
}
