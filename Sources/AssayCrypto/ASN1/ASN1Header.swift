/// The identifier and length octets of an element (X.690, sections 8.1.2 and 8.1.3).
struct ASN1Header {
    let tag: ASN1Tag
    /// The length of the content; nil where it is indefinite.
    let contentCount: Int?
    /// The length of the header itself.
    let count: Int

    /// Reads the header at the start of the bytes; both identifier and length must be in their shortest form.
    init(of bytes: ArraySlice<UInt8>) throws(ASN1Error) {
        let start = bytes.startIndex
        var position = start
        func next() throws(ASN1Error) -> UInt8 {
            guard position < bytes.endIndex else { throw ASN1Error(.truncated, at: start) }
            defer { position += 1 }
            return bytes[position]
        }

        let first = try next()
        var number = UInt32(first & 0x1F)
        if number == 0x1F {
            number = 0
            var byte: UInt8
            repeat {
                byte = try next()
                // Three octets hold 21 bits; no tag that is read here needs more.
                guard number != 0 || byte != 0x80, position - start <= 4 else {
                    throw ASN1Error(.tagMalformed, at: start)
                }
                number = number << 7 | UInt32(byte & 0x7F)
            } while byte & 0x80 != 0
            guard number >= 0x1F else { throw ASN1Error(.tagMalformed, at: start) }
        }
        tag = ASN1Tag(form: first & 0xE0, number: number)

        let length = try next()
        if length < 0x80 {
            contentCount = Int(length)
        } else if length == 0x80 {
            contentCount = nil
        } else {
            let octets = Int(length & 0x7F)
            guard octets <= 4 else { throw ASN1Error(.tooLarge, at: start) }
            var value = 0
            for _ in 0..<octets {
                let byte = try next()
                guard value != 0 || byte != 0 else { throw ASN1Error(.lengthNotMinimal, at: start) }
                value = value << 8 | Int(byte)
            }
            guard value >= 0x80 else { throw ASN1Error(.lengthNotMinimal, at: start) }
            contentCount = value
        }
        count = position - start
    }
}
