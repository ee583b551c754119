/// The identifier of an ASN.1 element: class, form and number (X.690, section 8.1.2).
package struct ASN1Tag: Sendable, Hashable {
    /// The class and form: bits 8 to 6 of the first identifier octet, the number's bits cleared.
    package let form: UInt8
    /// The tag number.
    package let number: UInt32

    /// A tag of the universal class in the primitive form.
    package static func primitive(_ number: UInt32) -> ASN1Tag {
        ASN1Tag(form: 0x00, number: number)
    }

    /// A context-specific tag in the constructed form, as explicit tags have it.
    package static func context(_ number: UInt32) -> ASN1Tag {
        ASN1Tag(form: 0xA0, number: number)
    }

    /// A context-specific tag in the primitive form, as implicit tags of primitive types have it.
    package static func contextPrimitive(_ number: UInt32) -> ASN1Tag {
        ASN1Tag(form: 0x80, number: number)
    }

    package static let boolean = primitive(1)
    package static let integer = primitive(2)
    package static let bitString = primitive(3)
    package static let octetString = primitive(4)
    package static let null = primitive(5)
    package static let objectIdentifier = primitive(6)
    package static let utcTime = primitive(23)
    package static let generalizedTime = primitive(24)
    package static let sequence = ASN1Tag(form: 0x20, number: 16)
    package static let set = ASN1Tag(form: 0x20, number: 17)
    /// An octet string in parts: BER only (X.690, section 8.7.3).
    package static let constructedOctetString = ASN1Tag(form: 0x20, number: 4)

    /// Whether the content is made of elements.
    package var isConstructed: Bool { form & 0x20 != 0 }
    /// Whether the class is context-specific.
    package var isContextSpecific: Bool { form & 0xC0 == 0x80 }
}
