import AssayCore
import Testing

@testable import AssayCrypto

@Suite struct Base64URLTests {
    static func decode(_ text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBufferPointer(Base64URL.decode)
    }

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        Base64URL.append(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    @Test("Text and bytes turn into each other, as the kit's Base64 does it", arguments: 0..<70)
    func roundTrip(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 151 + 97) }
        let text = Self.encode(bytes)
        #expect(text == Base64.encodeURL(bytes))
        #expect(text.utf8.count == Base64URL.encodedCount(count))
        #expect(Self.decode(Array(text.utf8)) == bytes)
    }

    @Test("Every text of up to four characters is judged as the kit's Base64 judges it")
    func agreement() {
        // All characters in each place, with the others drawn from the edges of the alphabet.
        let edges: [UInt8] = Array("AQgBZ_-9=+/ .".utf8)
        for character in UInt8.min...UInt8.max {
            for edge in edges {
                let texts: [[UInt8]] = [
                    [character], [character, edge], [edge, character], [character, edge, edge],
                    [edge, character, edge], [edge, edge, character], [character, edge, edge, edge],
                    [edge, character, edge, edge], [edge, edge, character, edge], [edge, edge, edge, character],
                    [edge, edge, edge, edge, character, edge],
                ]
                for text in texts {
                    #expect(Self.decode(text) == Base64.decodeURL(utf8: text[...]), "\(text)")
                }
            }
        }
    }
}
