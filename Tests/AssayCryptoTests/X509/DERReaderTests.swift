import AssayCore
import AssayCrypto
import Testing

struct DERReaderTests {
    @Test(
        "A header in its shortest form is read",
        arguments: [
            ([0x30, 0x00], 0, ASN1Tag.sequence), ([0x04, 0x01, 0xAA], 1, .octetString),
            ([0x04, 0x81, 0x80] + [UInt8](repeating: 0, count: 128), 128, .octetString),
            ([0x04, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256), 256, .octetString),
            ([0xBF, 0x1F, 0x00], 0, .context(31)), ([0xBF, 0x89, 0x34, 0x00], 0, .context(1204)),
            ([0xBF, 0xFF, 0xFF, 0x7F, 0x00], 0, .context((1 << 21) - 1)),
        ])
    func readsHeaders(_ bytes: [UInt8], _ count: Int, _ tag: ASN1Tag) throws {
        let element = try DERReader.single(tag, in: bytes[...])
        #expect(element.content.count == count)
        #expect(element.encoded.elementsEqual(bytes))
    }

    @Test(
        "Any other header is refused",
        arguments: [
            ([], ASN1Error.Code.truncated), ([0x30], .truncated), ([0x30, 0x01], .truncated),
            ([0x30, 0x82, 0x01], .truncated),
            ([0x30, 0x80, 0x00, 0x00], .lengthIndefinite),
            ([0x30, 0x81, 0x00], .lengthNotMinimal), ([0x30, 0x81, 0x7F], .lengthNotMinimal),
            ([0x30, 0x82, 0x00, 0x80], .lengthNotMinimal),
            ([0x30, 0x85, 0x01, 0, 0, 0, 0], .tooLarge), ([0x30, 0xFF], .tooLarge),
            ([0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], .truncated),
            ([0x3F, 0x1E, 0x00], .tagMalformed), ([0x3F, 0x80, 0x1F, 0x00], .tagMalformed),
            ([0x3F, 0x81, 0x80, 0x80, 0x00, 0x00], .tagMalformed), ([0x3F, 0x81], .truncated),
            ([0x31, 0x00], .tagUnexpected), ([0x30, 0x00, 0x00], .trailingBytes),
        ])
    func refusesHeaders(_ bytes: [UInt8], _ code: ASN1Error.Code) {
        #expect(failure(of: bytes) { try DERReader.single(.sequence, in: $0) } == code)
    }

    @Test(
        "An INTEGER has one form",
        arguments: [
            ([0x02, 0x01, 0x00], 0), ([0x02, 0x01, 0x7F], 127), ([0x02, 0x02, 0x00, 0x80], 128),
            ([0x02, 0x04, 0x7F, 0xFF, 0xFF, 0xFF], 0x7FFF_FFFF), ([0x02, 0x00], nil), ([0x02, 0x02, 0x00, 0x7F], nil),
            ([0x02, 0x02, 0xFF, 0x80], nil), ([0x02, 0x01, 0xFF], nil), ([0x02, 0x05, 0x01, 0, 0, 0, 0], nil),
            ([0x02, 0x05, 0x00, 0x80, 0, 0, 0], nil),
        ])
    func integers(_ bytes: [UInt8], _ number: Int?) {
        #expect((try? read(bytes) { reader throws(ASN1Error) in try reader.smallInteger() }) == number)
    }

    @Test(
        "An INTEGER of up to 64 bits has a sign",
        arguments: [
            ([0x02, 0x01, 0x00], 0), ([0x02, 0x01, 0xFF], -1), ([0x02, 0x02, 0xFF, 0x7F], -129),
            ([0x02, 0x06, 0x01, 0x98, 0x00, 0x00, 0x00, 0x00], 0x0198_0000_0000),
            ([0x02, 0x08, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .max),
            ([0x02, 0x08, 0x80, 0, 0, 0, 0, 0, 0, 0], .min), ([0x02, 0x09, 0, 0x80, 0, 0, 0, 0, 0, 0, 0], nil),
            ([0x02, 0x00], nil), ([0x0A, 0x01, 0x00], nil),
        ] as [([UInt8], Int64?)])
    func wideIntegers(_ bytes: [UInt8], _ number: Int64?) {
        #expect((try? read(bytes) { reader throws(ASN1Error) in try reader.int64() }) == number)
    }

    @Test(
        "An ENUMERATED is a small number with a tag of its own",
        arguments: [
            ([0x0A, 0x01, 0x02], 2), ([0x0A, 0x02, 0x01, 0x00], 256), ([0x02, 0x01, 0x02], nil),
            ([0x0A, 0x01, 0xFF], nil), ([0x0A, 0x00], nil), ([0x0A, 0x02, 0x00, 0x01], nil),
        ] as [([UInt8], Int?)])
    func enumerations(_ bytes: [UInt8], _ number: Int?) {
        #expect((try? read(bytes) { reader throws(ASN1Error) in try reader.enumerated() }) == number)
    }

    @Test func negativeIntegersAreReadAsTheyAre() throws {
        #expect(try read([0x02, 0x01, 0xFF]) { reader throws(ASN1Error) in try Array(reader.integer()) } == [0xFF])
    }

    @Test(
        "A BOOLEAN is 00 or FF",
        arguments: [
            ([0x01, 0x01, 0x00], false), ([0x01, 0x01, 0xFF], true), ([0x01, 0x01, 0x01], nil), ([0x01, 0x00], nil),
            ([0x01, 0x02, 0xFF, 0xFF], nil),
        ])
    func booleans(_ bytes: [UInt8], _ value: Bool?) {
        #expect((try? read(bytes) { reader throws(ASN1Error) in try reader.boolean() }) == value)
    }

    @Test(
        "Named bits have no trailing zeros",
        arguments: [
            ([0x03, 0x01, 0x00], 0), ([0x03, 0x02, 0x07, 0x80], 0x8000), ([0x03, 0x02, 0x01, 0x06], 0x0600),
            ([0x03, 0x03, 0x07, 0x06, 0x80], 0x0680), ([0x03, 0x02, 0x00, 0x80], nil), ([0x03, 0x02, 0x07, 0xC0], nil),
            ([0x03, 0x01, 0x01], nil), ([0x03, 0x00], nil), ([0x03, 0x02, 0x08, 0x00], nil),
            ([0x03, 0x02, 0x00, 0x00], nil),
            ([0x03, 0x04, 0x00, 0x01, 0x01, 0x01], nil),
        ] as [([UInt8], UInt16?)])
    func namedBits(_ bytes: [UInt8], _ bits: UInt16?) {
        #expect((try? read(bytes) { reader throws(ASN1Error) in try reader.namedBits() }) == bits)
    }

    @Test(
        "A BIT STRING of octets has no unused bits",
        arguments: [
            ([0x03, 0x02, 0x00, 0xAB], [0xAB]), ([0x03, 0x01, 0x00], []), ([0x03, 0x02, 0x01, 0xAA], nil),
            ([0x03, 0x00], nil),
        ] as [([UInt8], [UInt8]?)])
    func bitStrings(_ bytes: [UInt8], _ octets: [UInt8]?) {
        #expect((try? read(bytes) { reader throws(ASN1Error) in try Array(reader.octetsOfBitString()) }) == octets)
    }

    @Test(
        "An OBJECT IDENTIFIER has finished, shortest arcs",
        arguments: [
            ([0x06, 0x03, 0x55, 0x1D, 0x13], "2.5.29.19"),
            ([0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x08, 0x02], "1.2.840.113635.100.8.2"),
            ([0x06, 0x01, 0x00], "0.0"), ([0x06, 0x03, 0x88, 0x37, 0x03], "2.999.3"),
            ([0x06, 0x00], nil), ([0x06, 0x02, 0x55, 0x80], nil), ([0x06, 0x03, 0x55, 0x80, 0x01], nil),
            ([0x06, 0x01, 0x80], nil),
        ] as [([UInt8], String?)])
    func objectIdentifiers(_ bytes: [UInt8], _ text: String?) {
        let identifier = try? read(bytes) { reader throws(ASN1Error) in try reader.objectIdentifier() }
        #expect(identifier?.description == text)
    }

    @Test func writtenIdentifiersEqualReadOnes() throws {
        let read = try OID(content: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03, 0x02][...])
        #expect(read == .ecdsaWithSHA256)
        #expect(OID.p384.description == "1.3.132.0.34")
    }

    @Test("A NULL is empty", arguments: [([0x05, 0x00], true), ([0x05, 0x01, 0x00], false)] as [([UInt8], Bool)])
    func nulls(_ bytes: [UInt8], _ isGood: Bool) {
        #expect(((try? read(bytes) { reader throws(ASN1Error) in try reader.null() }) != nil) == isGood)
    }

    @Test(
        "Times are those of RFC 5280",
        arguments: [
            (0x17, "261008072521Z", "2026-10-08T07:25:21Z"), (0x17, "491231235959Z", "2049-12-31T23:59:59Z"),
            (0x17, "500101000000Z", "1950-01-01T00:00:00Z"), (0x17, "240229000000Z", "2024-02-29T00:00:00Z"),
            (0x18, "20500101000000Z", "2050-01-01T00:00:00Z"), (0x18, "99991231235959Z", "9999-12-31T23:59:59Z"),
            (0x17, "250229000000Z", nil), (0x17, "2610080725Z", nil), (0x17, "261008072521", nil),
            (0x17, "261008072521+0000", nil), (0x17, "261308072521Z", nil), (0x17, "261008072560Z", nil),
            (0x17, "20261008072521Z", nil), (0x18, "20261008072521Z", nil), (0x18, "20500101000000.5Z", nil),
            (0x18, "500101000000Z", nil), (0x17, "", nil), (0x17, "26100807252 Z", nil), (0x04, "261008072521Z", nil),
        ] as [(UInt8, String, String?)])
    func times(_ tag: UInt8, _ text: String, _ instant: String?) {
        let bytes = [tag, UInt8(text.utf8.count)] + Array(text.utf8)
        #expect((try? read(bytes) { reader throws(ASN1Error) in try reader.time() })?.description == instant)
    }

    @Test func anOptionalElementIsReadOnlyWhereItIs() throws {
        var reader = DERReader([0x02, 0x01, 0x05, 0x05, 0x00])
        #expect(try reader.nextIfPresent(.null) == nil)
        #expect(try reader.nextIfPresent(.integer) != nil)
        #expect(try reader.nextIfPresent(.null) != nil)
        #expect(try reader.nextIfPresent(.null) == nil)
        try reader.finish()
    }

    @Test func errorsTellWhere() {
        var reader = DERReader([0x02, 0x01, 0x05, 0x01, 0x01, 0x07])
        #expect(throws: ASN1Error(.booleanMalformed, at: 3)) {
            _ = try reader.integer()
            _ = try reader.boolean()
        }
    }

    // MARK: BER

    @Test(
        "Indefinite lengths end with two zeros, and are not mixed with definite ones",
        arguments: [
            ([0x30, 0x80, 0xA0, 0x80, 0x02, 0x01, 0x01, 0, 0, 0, 0], true),
            ([0x30, 0x05, 0xA0, 0x03, 0x02, 0x01, 0x01], true),
            ([0x30, 0x80, 0xA0, 0x03, 0x02, 0x01, 0x01, 0, 0], false),
            ([0x30, 0x09, 0xA0, 0x80, 0x02, 0x01, 0x01, 0, 0], false),
            ([0x30, 0x80, 0xA0, 0x80, 0x02, 0x01, 0x01, 0, 0, 0], false),
            ([0x30, 0x80, 0xA0, 0x80, 0x02, 0x01, 0x01], false),
            ([0x30, 0x80, 0xA0, 0x80, 0x02, 0x01, 0x01, 0, 1, 0, 0], false),
            ([0x30, 0x05, 0xA0, 0x04, 0x02, 0x01, 0x01], false),
            ([0x30, 0x06, 0xA0, 0x03, 0x02, 0x01, 0x01, 0x00], false),
            ([0x30, 0x80, 0xA0, 0x80, 0x02, 0x01, 0x01, 0, 0, 0, 0, 0], false),
        ] as [([UInt8], Bool)])
    func indefiniteLengths(_ bytes: [UInt8], _ isGood: Bool) {
        let content: ArraySlice<UInt8>? = try? {
            var reader = BERReader(bytes[...])
            let outer = try reader.open(.sequence)
            let inner = try reader.open(.context(0))
            let number = try reader.next(.integer).content
            try reader.close(inner)
            try reader.close(outer)
            try reader.finish()
            return number
        }()
        #expect((content == [1]) == isGood)
    }

    @Test(
        "An octet string comes in full parts but for the last one",
        arguments: [
            ([0x24, 0x80, 0x04, 0x02, 1, 2, 0x04, 0x01, 3, 0, 0], [1, 2, 3]),
            ([0x24, 0x80, 0x04, 0x02, 1, 2, 0, 0], [1, 2]), ([0x24, 0x80, 0, 0], []),
            ([0x24, 0x80, 0x04, 0x01, 1, 0x04, 0x02, 2, 3, 0, 0], nil), ([0x24, 0x80, 0x04, 0x03, 1, 2, 3, 0, 0], nil),
            ([0x24, 0x80, 0x04, 0x00, 0, 0], nil), ([0x24, 0x80, 0x02, 0x01, 1, 0, 0], nil),
            ([0x24, 0x80, 0x24, 0x80, 0x04, 0x01, 1, 0, 0, 0, 0], nil), ([0x04, 0x02, 1, 2], nil),
            ([0x24, 0x80, 0x04, 0x02, 1, 2, 0x04, 0x02, 3, 4, 0x04, 0x02, 5, 6, 0, 0], nil),
        ] as [([UInt8], [UInt8]?)])
    func octetStringsInParts(_ bytes: [UInt8], _ content: [UInt8]?) {
        let found: [UInt8]? = try? {
            var reader = BERReader([0x30, 0x80] + bytes + [0, 0])
            let outer = try reader.open(.sequence)
            let content = try reader.octetString(partSize: 2, limit: 5)
            try reader.close(outer)
            try reader.finish()
            return content
        }()
        #expect(found == content)
    }

    private func read<Value>(
        _ bytes: [UInt8], _ body: (inout DERReader) throws(ASN1Error) -> Value
    ) throws(ASN1Error) -> Value {
        var reader = DERReader(bytes[...])
        let value = try body(&reader)
        try reader.finish()
        return value
    }

    private func failure(of bytes: [UInt8], _ body: (ArraySlice<UInt8>) throws -> ASN1Element) -> ASN1Error.Code? {
        do {
            _ = try body(bytes[...])
            return nil
        } catch {
            return (error as? ASN1Error)?.code
        }
    }
}
