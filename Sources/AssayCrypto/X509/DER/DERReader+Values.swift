public import AssayCore

extension DERReader {
    /// A BOOLEAN: FF or 00 (X.690, section 11.1).
    public mutating func boolean() throws(ASN1Error) -> Bool {
        let element = try next(.boolean)
        guard element.content.count == 1, let byte = element.content.first, byte == 0xFF || byte == 0 else {
            throw ASN1Error(.booleanMalformed, at: element.encoded.startIndex)
        }
        return byte == 0xFF
    }

    /// A BOOLEAN whose default is FALSE: TRUE, or nothing, since a default is not written.
    ///
    /// - Parameter anyTrue: whether any octet but 00 is TRUE, as in BER.
    mutating func trueOrAbsent(anyTrue: Bool) throws(ASN1Error) -> Bool {
        let start = offset
        guard let element = try nextIfPresent(.boolean) else { return false }
        guard element.content.count == 1, let byte = element.content.first, anyTrue ? byte != 0 : byte == 0xFF else {
            throw ASN1Error(.booleanMalformed, at: start)
        }
        return true
    }

    /// The content of an INTEGER: two's complement, in the shortest form (X.690, section 8.3.2).
    public mutating func integer() throws(ASN1Error) -> ArraySlice<UInt8> {
        try number(.integer)
    }

    /// An INTEGER from 0 to 2^31 - 1.
    public mutating func smallInteger() throws(ASN1Error) -> Int {
        try small(.integer)
    }

    /// An INTEGER from -2^63 to 2^63 - 1.
    public mutating func int64() throws(ASN1Error) -> Int64 {
        let start = offset
        let content = try integer()
        guard content.count <= 8, let first = content.first else { throw ASN1Error(.integerMalformed, at: start) }
        return content.reduce(first & 0x80 == 0 ? 0 : -1) { $0 << 8 | Int64($1) }
    }

    /// An ENUMERATED from 0 to 2^31 - 1 (X.690, section 8.4).
    public mutating func enumerated() throws(ASN1Error) -> Int {
        try small(.enumerated)
    }

    private mutating func small(_ tag: ASN1Tag) throws(ASN1Error) -> Int {
        let start = offset
        let content = try number(tag)
        guard content.count <= 4, let first = content.first, first & 0x80 == 0 else {
            throw ASN1Error(.integerMalformed, at: start)
        }
        return content.reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func number(_ tag: ASN1Tag) throws(ASN1Error) -> ArraySlice<UInt8> {
        let element = try next(tag)
        let content = element.content
        guard let first = content.first else { throw ASN1Error(.integerMalformed, at: element.encoded.startIndex) }
        if let second = content.dropFirst().first {
            // Nine equal leading bits mean that the first octet is not needed.
            guard !(first == 0x00 && second & 0x80 == 0), !(first == 0xFF && second & 0x80 != 0) else {
                throw ASN1Error(.integerMalformed, at: element.encoded.startIndex)
            }
        }
        return content
    }

    /// A BIT STRING of whole octets.
    public mutating func octetsOfBitString() throws(ASN1Error) -> ArraySlice<UInt8> {
        let element = try next(.bitString)
        guard element.content.first == 0 else {
            throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex)
        }
        return element.content.dropFirst()
    }

    /// A BIT STRING of up to 16 named bits: bit 0 is the highest bit of the result (X.690, section 11.2.2).
    public mutating func namedBits() throws(ASN1Error) -> UInt16 { try namedBits(trailingZeros: false) }

    /// - Parameter trailingZeros: whether zero bits may follow the last bit that is set.
    mutating func namedBits(trailingZeros: Bool) throws(ASN1Error) -> UInt16 {
        let element = try next(.bitString)
        let octets = element.content.dropFirst()
        guard let unused = element.content.first, unused < 8, octets.count <= 2 else {
            throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex)
        }
        guard let last = octets.last else {
            guard unused == 0 else { throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex) }
            return 0
        }
        // No trailing zero bit is written: the last used bit is set, and the unused bits after it are not.
        guard trailingZeros ? last.trailingZeroBitCount >= Int(unused) : last.trailingZeroBitCount == Int(unused) else {
            throw ASN1Error(.bitStringMalformed, at: element.encoded.startIndex)
        }
        let high = UInt16(octets.first ?? 0) << 8
        return octets.count == 2 ? high | UInt16(last) : high
    }

    /// The content of an OCTET STRING.
    public mutating func octetString() throws(ASN1Error) -> ArraySlice<UInt8> {
        try next(.octetString).content
    }

    /// An OBJECT IDENTIFIER.
    public mutating func objectIdentifier() throws(ASN1Error) -> OID {
        try OID(content: next(.objectIdentifier).content)
    }

    /// A NULL.
    public mutating func null() throws(ASN1Error) {
        let element = try next(.null)
        guard element.content.isEmpty else { throw ASN1Error(.nullMalformed, at: element.encoded.startIndex) }
    }
}

extension DERReader {
    /// A time of a certificate or a signature, in the forms that RFC 5280, section 4.1.2.5, allows.
    ///
    /// Seconds are written and the zone is Z. Years before 2050 are a UTCTime, later years a GeneralizedTime.
    public mutating func time() throws(ASN1Error) -> Instant { try time(inAnyForm: false) }

    /// - Parameter inAnyForm: whether years before 2050 may be a GeneralizedTime, too.
    mutating func time(inAnyForm: Bool) throws(ASN1Error) -> Instant {
        let element = try next()
        let malformed = ASN1Error(.timeMalformed, at: element.encoded.startIndex)
        var digits = element.content
        guard digits.popLast() == UInt8(ascii: "Z"),
            digits.allSatisfy(\.isASCIIDigit)
        else { throw malformed }

        func take(_ count: Int) -> Int {
            defer { digits = digits.dropFirst(count) }
            return digits.prefix(count).reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }
        let year: Int
        switch element.tag {
        case .utcTime where digits.count == 12:
            let short = take(2)
            year = short < 50 ? 2000 + short : 1900 + short
        case .generalizedTime where digits.count == 14:
            year = take(4)
            guard year >= 2050 || inAnyForm else { throw malformed }
        case .utcTime, .generalizedTime:
            throw malformed
        default:
            throw ASN1Error(.tagUnexpected, at: element.encoded.startIndex)
        }
        guard
            let instant = Instant(
                year: year, month: take(2), day: take(2), hour: take(2), minute: take(2), second: take(2))
        else { throw malformed }
        return instant
    }
}
