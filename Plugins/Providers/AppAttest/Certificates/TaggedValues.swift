internal import AssayCrypto

/// The form of the two undocumented leaf extensions: a sequence of numbered values, each an octet string or a number.
struct TaggedValues {
    private var texts: [UInt32: String] = [:]

    /// Reads the value of an extension; a number that is there twice is refused.
    init(extensionValue: ArraySlice<UInt8>) throws(ASN1Error) {
        var reader = try DERReader.single(.sequence, in: extensionValue).reader
        var seen: Set<UInt32> = []
        while !reader.isAtEnd {
            let start = reader.offset
            let field = try reader.next()
            guard field.tag == .context(field.tag.number), seen.insert(field.tag.number).inserted else {
                throw ASN1Error(.tagUnexpected, at: start)
            }
            var content = field.reader
            let value = try content.next()
            try content.finish()
            guard value.tag == .octetString, value.content.count <= 256 else { continue }
            texts[field.tag.number] = String(validating: value.content, as: UTF8.self)
        }
    }

    /// The text under a number, which may be empty; nil when there is none, and when the value is no UTF-8 text.
    func text(_ number: UInt32) -> String? {
        texts[number]
    }
}
