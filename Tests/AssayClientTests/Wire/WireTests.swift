import AssayCore
import AssayCrypto
import Testing

@testable import AssayClient

@Suite("Encodings")
struct WireTests {
    @Test(
        "SHA-256 has the values of FIPS 180-4's examples",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func digests(message: String, digest: String) {
        #expect(HexText.encode(SHA256Digest.plain(Array(message.utf8))) == digest)
        #expect(HexText.encode(SHA256Digest.hash(Array(message.utf8))) == digest)
    }

    @Test("SHA-256 agrees with OpenSSL for every length of three blocks, and over parts")
    func digestsOfLengths() {
        for length in 0...192 {
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ length) }
            #expect(SHA256Digest.plain(message) == AssayCrypto.SHA256.hash(message))
            let half = length / 2
            #expect(SHA256Digest.hash(Array(message[..<half]), Array(message[half...])) == SHA256Digest.plain(message))
        }
    }

    @Test("Base 64 is written as the standard has it, and read in each spelling")
    func base64() {
        for length in 0...70 {
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 251) }
            let text = Base64Text.encode(bytes)
            #expect(text == AssayCore.Base64.encode(bytes))
            let url = AssayCore.Base64.encodeURL(bytes)
            for spelling in [text, url, text.replacing("=", with: "")] {
                #expect(Base64Text.decode(spelling.utf8) == bytes, "\(spelling)")
            }
        }
    }

    @Test(
        "other text is no Base 64",
        arguments: ["A", "AAAAA", "AA=", "AA===", "=AAA", "A=AA", "AB==", "AAB=", "A A=", "+_AA", "AA\n=", "é"])
    func wrongBase64(text: String) {
        #expect(Base64Text.decode(text.utf8) == nil)
    }

    @Test("every JSON text is read as the server's own reader does, or refused")
    func json() {
        let texts = [
            "{}", "[]", "null", "true", "false", "0", "-1", "12", "01", "-", "1.", ".5", "1.5", "1e3", "1E+2", "-0",
            "+1",
            "9223372036854775807", "9223372036854775808", "1e999", "\"a\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"",
            "\"\\ud83d\"", "\"\\ude00\"", "\"\\x\"", "\"a", "\"\u{1}\"", "[1,2", "[1,]", "[,1]", "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}", "{\"a\":1}x", " { \"a\" : [ 1 , \"b\" ] } ", "tru", "nul", "truex", "\"\\/\"",
            "\"\\b\\f\\n\\r\\t\"",
        ]
        for text in texts {
            let mine = JSONValue.read(Array(text.utf8))
            let theirs = try? JSON.parse(Array(text.utf8))
            #expect((mine == nil) == (theirs == nil), "\(text)")
            if let mine, let theirs { #expect(mine.isSame(as: theirs), "\(text)") }
        }
        #expect(JSONValue.read([0x22, 0xFF, 0x22]) == nil)
        #expect(JSONValue.read(Array(#"{"a":1,"a":2}"#.utf8)) == nil)
        #expect(JSONValue.read(Array(String(repeating: "[", count: 16).utf8) + Array("1".utf8)) == nil)
        let deep = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
        #expect(JSONValue.read(Array(deep.utf8)) != nil)
        #expect(JSONValue.read(Array("[\(deep)]".utf8)) == nil)
        #expect(JSONValue.read(Array("[\(String(repeating: "1,", count: 3000))1]".utf8)) == nil)
    }

    @Test("what is written can be read")
    func writes() throws {
        let text = JSONText.object([
            ("text", .text("a\"\\\n\u{1F}é/")), ("flag", .bool(true)), ("bytes", .bytes([1, 2, 255])),
            ("n", .integer(-7)),
        ])
        let read = try JSON.parse(text)
        #expect(read["text"]?.string == "a\"\\\n\u{1F}é/")
        #expect(read["flag"] == .bool(true))
        #expect(read["bytes"]?.string == "AQL/")
        #expect(read["n"] == .integer(-7))
        #expect(JSONValue.read(text)?["text"]?.text == "a\"\\\n\u{1F}é/")
    }

    @Test(
        "durations are decimal seconds",
        arguments: [
            ("3600s", 3_600_000_000_000), ("3.5s", 3_500_000_000), ("0.000000001s", 1), ("3.000000001s", 3_000_000_001),
            ("0s", nil), ("3600", nil), ("", nil), ("s", nil), (".5s", nil), ("5.s", nil), ("1.0000000001s", nil),
            ("-1s", nil), ("1 s", nil), ("1234567890s", nil),
        ] as [(String, Int64?)])
    func durations(text: String, nanoseconds: Int64?) {
        #expect(ServiceReply.duration(text)?.nanoseconds == nanoseconds)
    }

    @Test(
        "dates of HTTP",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Tue, 29 Feb 2028 23:59:59 GMT", 1_835_481_599), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Abc 1994 08:49:37 GMT", nil),
            ("Sun, 06 Nov 1994 28:49:37 GMT", nil), ("", nil),
        ] as [(String, Int64?)])
    func dates(text: String, seconds: Int64?) {
        #expect(HTTPDateText.seconds(text) == seconds)
    }

    @Test("lengths of time stop at the largest, and never overflow")
    func intervals() {
        let longest = Interval(nanoseconds: .max)
        #expect(longest + longest == longest)
        #expect(Interval.seconds(.max) == longest)
        #expect(Interval.seconds(.min).nanoseconds == .min)
        #expect(longest * 3 == longest)
        #expect((longest * -3).nanoseconds == .min)
        #expect((.zero - longest - longest).nanoseconds == .min)
        #expect(Moment(uptime: longest) + longest == Moment(uptime: longest))
        #expect("\(Interval.milliseconds(1500))" == "1.5 s")
    }
}

extension JSONValue {
    func isSame(as other: JSON) -> Bool {
        switch (self, other) {
        case (.null, .null): true
        case (.bool(let mine), .bool(let theirs)): mine == theirs
        case (.string(let mine), .string(let theirs)): mine == theirs
        case (.integer(let mine), .integer(let theirs)): mine == theirs
        case (.number, .array), (.number, .object), (.number, .string): false
        case (.number(let mine), _): "\(mine)" == String(decoding: other.encoded, as: UTF8.self) || mine.isFinite
        case (.array(let mine), .array(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isSame(as: $1) }
        case (.object(let mine), .object(let theirs)):
            mine.count == theirs.count
                && zip(mine, theirs).allSatisfy { $0.name == $1.name && $0.value.isSame(as: $1.value) }
        default: false
        }
    }
}
