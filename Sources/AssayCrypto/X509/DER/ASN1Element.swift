/// One ASN.1 element of definite length: slices of the bytes that it was read from.
public struct ASN1Element: Sendable {
    /// The identifier: what kind of value it is.
    public let tag: ASN1Tag
    /// Identifier, length and content.
    public let encoded: ArraySlice<UInt8>
    /// The length of identifier and length.
    let headerCount: Int

    /// The content alone.
    public var content: ArraySlice<UInt8> { encoded.dropFirst(headerCount) }

    /// A reader of the elements inside a constructed element, such as a SEQUENCE or an explicit tag.
    public var reader: DERReader { DERReader(content) }
}

/// The identifier of an ASN.1 element: class, form and number (X.690, section 8.1.2).
public struct ASN1Tag: Sendable, Hashable {
    /// The class and form: bits 8 to 6 of the first identifier octet, with the bits of the number cleared.
    public let form: UInt8
    /// The tag number; at most 2^21 - 1 in what is read.
    public let number: UInt32

    /// A tag of the universal class in the primitive form.
    public static func primitive(_ number: UInt32) -> ASN1Tag {
        ASN1Tag(form: 0x00, number: number)
    }

    /// A context-specific tag in the constructed form, as explicit tags have it.
    public static func context(_ number: UInt32) -> ASN1Tag {
        ASN1Tag(form: 0xA0, number: number)
    }

    /// A context-specific tag in the primitive form, as implicit tags of primitive types have it.
    public static func contextPrimitive(_ number: UInt32) -> ASN1Tag {
        ASN1Tag(form: 0x80, number: number)
    }

    /// BOOLEAN.
    public static let boolean = primitive(1)
    /// INTEGER.
    public static let integer = primitive(2)
    /// BIT STRING.
    public static let bitString = primitive(3)
    /// OCTET STRING.
    public static let octetString = primitive(4)
    /// NULL.
    public static let null = primitive(5)
    /// OBJECT IDENTIFIER.
    public static let objectIdentifier = primitive(6)
    /// ENUMERATED.
    public static let enumerated = primitive(10)
    /// UTF8String.
    public static let utf8String = primitive(12)
    /// PrintableString.
    public static let printableString = primitive(19)
    /// UTCTime.
    public static let utcTime = primitive(23)
    /// GeneralizedTime.
    public static let generalizedTime = primitive(24)
    /// SEQUENCE and SEQUENCE OF.
    public static let sequence = ASN1Tag(form: 0x20, number: 16)
    /// SET and SET OF.
    public static let set = ASN1Tag(form: 0x20, number: 17)
    /// An octet string in parts: BER only (X.690, section 8.7.3).
    static let constructedOctetString = ASN1Tag(form: 0x20, number: 4)

    /// Whether the content is made of elements.
    public var isConstructed: Bool { form & 0x20 != 0 }
    /// Whether the class is context-specific.
    public var isContextSpecific: Bool { form & 0xC0 == 0x80 }
}

/// The identifier and length octets of an element (X.690, sections 8.1.2 and 8.1.3).
struct ASN1Header {
    let tag: ASN1Tag
    /// The length of the content; nil when it is indefinite.
    let contentCount: Int?
    /// The length of the header itself.
    let count: Int

    /// Reads the header at the start of the bytes; both identifier and length must be in their shortest form.
    init(of bytes: ArraySlice<UInt8>) throws(ASN1Error) {
        let start = bytes.startIndex
        // Most headers have two octets.
        if bytes.count >= 2, bytes[start] & 0x1F != 0x1F, bytes[start + 1] < 0x80 {
            tag = ASN1Tag(form: bytes[start] & 0xE0, number: UInt32(bytes[start] & 0x1F))
            contentCount = Int(bytes[start + 1])
            count = 2
            return
        }
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
