import AssayCore
import Testing

@Suite("Percent-encoding")
struct PercentCodingTests {
    private func decoded(_ text: String) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        let isWhole = PercentCoding.decode(text.utf8) { byte, _ in
            bytes.append(byte)
            return true
        }
        return (bytes, isWhole)
    }

    @Test(
        "Every byte comes back from its escape, whose digits are read in either case", arguments: UInt8.min...UInt8.max)
    func everyByte(_ byte: UInt8) {
        let escape = String(decoding: PercentCoding.encode(byte), as: UTF8.self)
        #expect(escape.utf8.count == 3 && escape.uppercasedASCII.isExactly(escape))
        for text in [escape, escape.lowercasedASCII] {
            #expect(decoded(text).bytes == [byte])
            #expect(decoded(text).isWhole)
        }
    }

    @Test(
        "A broken escape ends the reading, wherever it is", arguments: ["%", "%4", "%4g", "%g4", "%%41", "%-1", "% 1"])
    func broken(_ escape: String) {
        #expect(decoded("a\(escape)").bytes == [0x61])
        #expect(!decoded("a\(escape)").isWhole)
    }

    @Test("What an escape yields is not decoded again, and a plus sign is no space")
    func once() {
        #expect(decoded("%2541+").bytes == Array("%41+".utf8))
    }

    @Test("A reader learns which bytes were escaped, and can stop at any of them")
    func reader() {
        var escaped: [Bool] = []
        let isWhole = PercentCoding.decode("/%2F/%2f".utf8) { _, isEscaped in
            escaped.append(isEscaped)
            return escaped.count < 3
        }
        #expect(escaped == [false, true, false])
        #expect(!isWhole)
    }
}
