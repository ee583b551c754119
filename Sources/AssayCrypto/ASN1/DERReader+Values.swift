extension DERReader {
    /// A BOOLEAN: FF or 00 (X.690, section 11.1).
    package mutating func boolean() throws(ASN1Error) -> Bool {
        let element = try next(.boolean)
        guard element.content.count == 1, let byte = element.content.first, byte == 0xFF || byte == 0 else {
            throw ASN1Error(.booleanMalformed, at: element.encoded.startIndex)
        }
        return byte == 0xFF
    }

    /// The content of an INTEGER: two's complement, in the shortest form (X.690, section 8.3.2).
    package mutating func integer() throws(ASN1Error) -> ArraySlice<UInt8> {
        let element = try next(.integer)
        let content = element.content
        guard let first = content.first else { throw ASN1Error(.integerMalformed, at: element.encoded.startIndex) }
        if let second = content.dropFirst().first {
            // Nine equal leading bits mean that the first octet says nothing.
            guard !(first == 0x00 && second & 0x80 == 0), !(first == 0xFF && second & 0x80 != 0) else {
                throw ASN1Error(.integerMalformed, at: element.encoded.startIndex)
            }
        }
        return content
    }

    /// An INTEGER from 0 to 2^31 - 1.
    package mutating func smallInteger() throws(ASN1Error) -> Int {
        let start = offset
        let content = try integer()
        guard content.count <= 4, let first = content.first, first & 0x80 == 0 else {
            throw ASN1Error(.integerMalformed, at: start)
        }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    /// A BIT STRING of whole octets.
    package mutating func octetsOfBitString() throws(ASN1Error) -> ArraySlice<UInt8> {
        let element = try next(.bitString)
        guard element.content.first == 0 else {
            throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex)
        }
        return element.content.dropFirst()
    }

    /// A BIT STRING of up to 16 named bits: bit 0 is the value's highest (X.690, section 11.2.2).
    package mutating func namedBits() throws(ASN1Error) -> UInt16 {
        let element = try next(.bitString)
        let octets = element.content.dropFirst()
        guard let unused = element.content.first, unused < 8, octets.count <= 2 else {
            throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex)
        }
        guard let last = octets.last else {
            guard unused == 0 else { throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex) }
            return 0
        }
        // No trailing zero bit is written: the last used bit is set, and those behind it are not.
        guard last.trailingZeroBitCount == Int(unused) else {
            throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex)
        }
        let high = UInt16(octets.first ?? 0) << 8
        return octets.count == 2 ? high | UInt16(last) : high
    }

    /// The content of an OCTET STRING.
    package mutating func octetString() throws(ASN1Error) -> ArraySlice<UInt8> {
        try next(.octetString).content
    }

    /// An OBJECT IDENTIFIER.
    package mutating func objectIdentifier() throws(ASN1Error) -> OID {
        try OID(content: next(.objectIdentifier).content)
    }

    /// A NULL.
    package mutating func null() throws(ASN1Error) {
        let element = try next(.null)
        guard element.content.isEmpty else { throw ASN1Error(.nullMalformed, at: element.encoded.startIndex) }
    }
}
