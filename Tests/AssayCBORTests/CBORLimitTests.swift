import AssayCBOR
import AssayCore
import Testing

/// The worst that 64 KiB can hold costs no more than the limits say.
struct CBORLimitTests {
    private static let full = 64 << 10

    @Test func `The limits for evidence are those that were promised`() {
        #expect(CBORLimits.evidence == CBORLimits(bytes: 65_536, depth: 8, items: 256))
        #expect(CBORDecoder().limits == .evidence)
        #expect(CBORDecoder().profile == .strict)
    }

    @Test func `Input beyond the limit is not read`() throws {
        let decoder = CBORDecoder(limits: CBORLimits(bytes: 4, depth: 8, items: 8))
        #expect(throws: CBORError(.tooLarge, at: 4)) { try decoder.decode(bytes("4401020304")) }
        #expect(try decoder.decode(bytes("43010203")) == .bytes([1, 2, 3]))
    }

    @Test(arguments: [
        ("81", CBORProfile.strict), ("81", .generic), ("9f", .generic), ("c1", .generic), ("d818", .generic),
    ])
    func `Nesting ends at the limit`(_ head: String, _ profile: CBORProfile) {
        let deep = (0..<Self.full / 2).flatMap { _ in bytes(head) }.prefix(Self.full)
        #expect(throws: CBORError(.tooDeep, at: 8 * bytes(head).count)) {
            try CBORDecoder(profile: profile).decode(Array(deep))
        }
    }

    @Test func `Maps within maps count as nesting, as keys and as values`() {
        let asKeys = Array(repeating: UInt8(0xA1), count: 100)
        #expect(throws: CBORError(.tooDeep, at: 8)) { try CBORDecoder().decode(asKeys) }
        let asValues = (0..<100).flatMap { _ in bytes("a100") }
        #expect(throws: CBORError(.tooDeep, at: 16)) { try CBORDecoder().decode(asValues) }
    }

    @Test func `Eight levels are allowed and nine are not`() throws {
        let eight = Array(repeating: UInt8(0x81), count: 7) + [0x80]
        _ = try CBORDecoder().decode(eight)
        #expect(throws: CBORError(.tooDeep, at: 8)) { try CBORDecoder().decode([0x81] + eight) }
    }

    @Test func `No limit allows more nesting than values can bear`() {
        let limits = CBORLimits(bytes: 1 << 20, depth: .max, items: .max)
        #expect(limits.depth == CBORLimits.greatestDepth)
        var raised = CBORLimits.generic
        raised.depth = .max
        #expect(throws: CBORError(.tooDeep, at: CBORLimits.greatestDepth)) {
            try CBORDecoder(limits: raised, profile: .generic).decode(Array(repeating: 0x81, count: 100_000))
        }
    }

    @Test func `An array of too many items is refused by its count`() {
        let bomb = bytes("99fffc") + Array(repeating: 0, count: 65_532)
        #expect(throws: CBORError(.tooManyItems, at: 0)) { try CBORDecoder().decode(bomb) }
    }

    @Test func `An array of indefinite length is refused at the first item beyond the limit`() {
        let bomb: [UInt8] = [0x9F] + Array(repeating: 0, count: 60_000) + [0xFF]
        #expect(throws: CBORError(.tooManyItems, at: 256)) { try CBORDecoder(profile: .generic).decode(bomb) }
    }

    @Test func `Chunks count as items`() {
        let bomb: [UInt8] = [0x5F] + Array(repeating: 0x40, count: 60_000) + [0xFF]
        #expect(throws: CBORError(.tooManyItems, at: 256)) { try CBORDecoder(profile: .generic).decode(bomb) }
    }

    @Test func `Counts that add up beyond the limit are refused`() {
        let nested = bytes("8298c8") + Array(repeating: 0, count: 200) + bytes("98c8") + Array(repeating: 0, count: 200)
        #expect(throws: CBORError(.tooManyItems, at: 203)) { try CBORDecoder().decode(nested) }
    }

    @Test func `The last of many keys is still compared with the first`() throws {
        let decoder = CBORDecoder(limits: .generic)
        var pairs = (0..<15_000).map { CBORPair(.unsigned(UInt64($0)), .null) }
        #expect(try decoder.decode(CBOREncoder().encode(.map(pairs))).map == pairs)
        pairs.append(CBORPair(0, .null))
        let input = CBOREncoder().encode(.map(pairs))
        #expect(throws: CBORError(.duplicateKey, at: input.count - 2)) { try decoder.decode(input) }
    }

    @Test(arguments: 1...20)
    func `A repeated key is found in a map of any size`(_ size: Int) {
        for repeated in 0..<size {
            let keys = Array(0..<size) + [repeated]
            let input = CBOREncoder().encode(.map(keys.map { CBORPair(.text("key\($0)"), .null) }))
            #expect { try CBORDecoder().decode(input) } throws: { ($0 as? CBORError)?.code == .duplicateKey }
        }
    }
}
