import AssayCBOR
import AssayCore
import Testing

struct CBORValueTests {
    @Test func `Members are found by text and by number`() throws {
        let key = try CBORDecoder().decode(bytes("a3 63666d74 6161 01 02 20 4103"))
        #expect(key["fmt"]?.text == "a")
        #expect(key[1]?.unsigned == 2)
        #expect(key[-1]?.bytes == [3])
        #expect(key["absent"] == nil)
        #expect(key["fmt"]?["fmt"] == nil)
    }

    @Test func `A value is read only as what it is`() {
        #expect(CBORValue.unsigned(1).bytes == nil)
        #expect(CBORValue.unsigned(1).text == nil)
        #expect(CBORValue.text("a").bytes == nil)
        #expect(CBORValue.bytes([]).array == nil)
        #expect(CBORValue.array([]).map == nil)
        #expect(CBORValue.null.bool == nil)
        #expect(CBORValue.bool(false).bool == false)
        #expect(CBORValue.negative(0).unsigned == nil)
    }

    @Test func `Integers of either sign are read as far as they fit`() {
        #expect(CBORValue.unsigned(7).integer == 7)
        #expect(CBORValue.negative(6).integer == -7)
        #expect(CBORValue.unsigned(UInt64(Int64.max)).integer == .max)
        #expect(CBORValue.unsigned(UInt64(Int64.max) + 1).integer == nil)
        #expect(CBORValue.negative(UInt64(Int64.max)).integer == .min)
        #expect(CBORValue.negative(.max).integer == nil)
        #expect(CBORValue.integer(.min) == .negative(UInt64(Int64.max)))
    }

    @Test func `Text is compared by its bytes`() throws {
        let composed = CBORValue.text("\u{E9}")
        let decomposed = CBORValue.text("e\u{301}")
        #expect(composed != decomposed)
        let both = CBORValue.map([CBORPair(composed, 1), CBORPair(decomposed, 2)])
        #expect(try CBORDecoder().decode(CBOREncoder().encode(both)) == both)
    }

    @Test func `Values of different types differ`() {
        let values: [CBORValue] = [
            .unsigned(0), .negative(0), .bytes([]), .text(""), .array([]), .map([]), .tag(0, .null), .bool(false),
            .null,
            .undefined, .simple(0), .float(0), .float(-0.0), .float(.nan),
        ]
        #expect(Set(values).count == values.count)
        for (index, value) in values.enumerated() { #expect(values.firstIndex(of: value) == index) }
    }

    @Test func `A prefix is decoded with its length, and what follows is not looked at`() throws {
        let input = bytes("00 a10102 ffff")
        let (value, count) = try CBORDecoder().decodeFirst(input[1...])
        #expect(value == [1: 2])
        #expect(count == 3)
        #expect(throws: CBORError(.malformed, at: 0)) { try CBORDecoder().decodeFirst(input[4...]) }
        #expect(throws: CBORError(.truncated, at: 0)) { try CBORDecoder().decodeFirst(input[6...]) }
    }

    @Test func `Maps are encoded in the order they have`() {
        let value: CBORValue = ["b": 1, "a": 2]
        #expect(CBOREncoder().encode(value) == bytes("a2 616201 616102"))
    }

    @Test(
        arguments: [
            (23, "17"), (24, "1818"), (255, "18ff"), (256, "190100"), (65_536, "1a00010000"),
            (1 << 32, "1b0000000100000000"),
        ] as [(UInt64, String)])
    func `Heads are as short as they can be`(_ number: UInt64, _ hex: String) {
        #expect(CBOREncoder().encode(.unsigned(number)) == bytes(hex))
        #expect(CBOREncoder().encode(.negative(number))[1...] == bytes(hex)[1...])
        #expect(CBOREncoder().encode(.tag(number, 0)).count == bytes(hex).count + 1)
    }

    @Test func `An error says what and where`() {
        #expect(CBORError(.duplicateKey, at: 12).description == "duplicateKey at byte 12")
    }
}
