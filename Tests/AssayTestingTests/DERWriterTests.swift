import AssayCore
import AssayCrypto
import AssayTesting
import Testing

@Suite("What the simulation writes in ASN.1 is read by the reader of certificates")
struct DERWriterTests {
    @Test(
        "Whole numbers have the shortest form, and stay positive", arguments: [0, 1, 127, 128, 255, 256, 0x7FFF_FFFF])
    func integers(_ number: UInt64) throws {
        var reader = DERReader(DERWriter.integer(number)[...])
        #expect(try reader.smallInteger() == Int(number))
        #expect(reader.isAtEnd)
    }

    @Test("The largest number has nine octets, so that it is not negative")
    func largest() throws {
        var reader = DERReader(DERWriter.integer(.max)[...])
        #expect(try Array(reader.integer()) == [0] + [UInt8](repeating: 0xFF, count: 8))
        #expect(DERWriter.integer(magnitude: []) == [2, 1, 0])
        #expect(DERWriter.integer(magnitude: [0, 0, 5]) == [2, 1, 5])
    }

    @Test("Contents of every order of length are read whole", arguments: [0, 1, 127, 128, 255, 256, 65_535, 65_536])
    func lengths(_ count: Int) throws {
        let content = [UInt8](repeating: 7, count: count)
        var reader = DERReader(DERWriter.octetString(content)[...])
        #expect(try Array(reader.octetString()) == content)
        #expect(reader.isAtEnd)
    }

    @Test("Times of both forms are read as they were, to the second", arguments: [0, 1_795_262_400, 2_524_607_999])
    func shortTimes(_ seconds: Int64) throws {
        var reader = DERReader(DERWriter.time(Instant(seconds: seconds))[...])
        #expect(try reader.time() == Instant(seconds: seconds))
    }

    @Test("From 2050 on a time has four digits for its year")
    func longTimes() throws {
        let instant = Instant(seconds: 2_524_608_000)
        #expect(DERWriter.time(instant).first == 0x18)
        #expect(DERWriter.time(instant + .seconds(-1)).first == 0x17)
        var reader = DERReader(DERWriter.time(instant)[...])
        #expect(try reader.time() == instant)
    }

    @Test(
        "Tags of any number are read, in one octet up to 30 and in more from 31 on",
        arguments: [0, 30, 31, 127, 128, 1204])
    func tags(_ number: UInt64) throws {
        var reader = DERReader(DERWriter.context(number, DERWriter.null)[...])
        let element = try reader.next()
        #expect(element.tag == .context(UInt32(number)))
        #expect(element.tag.isContextSpecific && element.tag.isConstructed)
        #expect(element.tag != .contextPrimitive(UInt32(number)))
        var inner = element.reader
        try inner.null()
    }

    @Test("The indefinite form is for readers of BER alone")
    func indefinite() {
        let value = DERWriter.indefinite(0x30, DERWriter.null)
        var reader = DERReader(value[...])
        #expect(throws: ASN1Error.self) { try reader.next(.sequence) }
    }
}
