import AssayCore
import AssayKit
import Testing

@Suite("Base 64")
struct Base64Tests {
    @Test(
        "The test vectors of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func vectors(_ plain: String, _ encoded: String) {
        #expect(Base64.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.decode(encoded) == Array(plain.utf8))
        #expect(Base64.decode(encoded.replacing("=", with: "")) == Array(plain.utf8))
        #expect(Base64.encodeURL(Array(plain.utf8)) == encoded.replacing("=", with: ""))
    }

    @Test("Both alphabets are read, one at a time", arguments: [("-_-_", "+/+/"), ("__79", "//79")])
    func alphabets(_ url: String, _ standard: String) {
        #expect(Base64.decode(url) == Base64.decode(standard))
        #expect(Base64.decode(url) != nil)
        #expect(Base64.decode(String(url.prefix(2)) + String(standard.suffix(2).first.map { _ in "+/" } ?? "")) == nil)
    }

    @Test(
        "What is not the one spelling of some bytes is refused",
        arguments: [
            "A", "AA=", "AAA==", "AA===", "=", "==", "====", "A===", "AB==", "AAB=", "AA==AA==", "AA\n", " AAAA",
            "AA AA",
            "AAA\u{0}", "AAAÄ", "AA.A", "Zm9v=", "Zm9vYg=",
        ])
    func refused(_ text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test("Any bytes survive, in both alphabets")
    func roundTrip() {
        var generator = SystemRandomNumberGenerator()
        for count in 0..<130 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
            #expect(Base64.decode(Base64.encodeURL(bytes)) == bytes)
            #expect(Base64.decodeURL(utf8: Array(Base64.encodeURL(bytes).utf8)[...]) == bytes)
        }
    }

    @Test("JOSE's form is read without padding and in its own alphabet only", arguments: ["AA==", "+/+/", "AB"])
    func jose(_ text: String) {
        #expect(Base64.decodeURL(utf8: Array(text.utf8)[...]) == nil)
    }
}

@Suite("Hexadecimal digits")
struct HexTests {
    @Test("Digits are read in either case, and written in lower case")
    func roundTrip() {
        let all = (0...255).map { UInt8($0) }
        #expect(Hex.decode(Hex.encode(all)) == all)
        #expect(Hex.decode(Hex.encode(all).uppercased()) == all)
        #expect(Hex.encode([0, 0xAF]) == "00af")
    }

    @Test("Anything else is refused", arguments: ["0", "0g", "é", "+1", "0x00", " 00"])
    func refused(_ text: String) {
        #expect(Hex.decode(text) == nil)
    }
}
