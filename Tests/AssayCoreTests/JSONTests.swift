import AssayCore
import Testing

@Suite("JSON")
struct JSONTests {
    @Test("Values are read as what they are")
    func values() throws {
        let value = try JSON.parse(
            Array(#" {"a":[1,-2,3.5,1e2,true,false,null,"\u00e4\ud83d\ude00\/\n"],"b":{}} "#.utf8))
        #expect(value["a"]?.array == [1, -2, .number(3.5), .number(100), true, false, nil, "ä😀/\n"])
        #expect(value["b"] == .object([]))
    }

    @Test(
        "What is written is read again",
        arguments: [JSON.string("\u{0}\u{1F}\"\\/\u{7F}\u{2028}ä😀"), .integer(.min), .number(1e-300), [], [:]])
    func roundTrip(_ value: JSON) throws {
        #expect(try JSON.parse(value.encoded) == value)
    }

    @Test(
        "Every bound is kept",
        arguments: [
            (JSON.Limits(bytes: 3), "[1]", true), (JSON.Limits(bytes: 2), "[1]", false),
            (JSON.Limits(depth: 2), "[[1]]", true), (JSON.Limits(depth: 1), "[[1]]", false),
            (JSON.Limits(values: 3), "[1,2]", true), (JSON.Limits(values: 2), "[1,2]", false),
            (JSON.Limits(), #"{"a":1,"a":2}"#, true),
            (JSON.Limits(allowsRepeatedNames: false), #"{"a":1,"a":2}"#, false),
            (JSON.Limits(allowsRepeatedNames: false), #"{"a":1,"\u0061":2}"#, false),
        ])
    func limits(_ limits: JSON.Limits, _ text: String, _ isGood: Bool) {
        #expect(((try? JSON.parse(Array(text.utf8), limits: limits)) != nil) == isGood)
    }

    @Test("A name that is there twice is found among many members as among few", arguments: [2, 15, 16, 17, 18, 200])
    func repeatedNames(_ count: Int) {
        let limits = JSON.Limits(allowsRepeatedNames: false)
        let members = (0..<count).map { "\"n\($0)\":\($0)" }
        #expect(throws: Never.self) { try JSON.parse("{\(members.joined(separator: ","))}".utf8, limits: limits) }
        for (first, again) in [(0, count - 1), (count - 2, count - 1)] {
            var members = members
            members[again] = "\"n\(first)\":true"
            let error = #expect(throws: JSONError.self) {
                try JSON.parse("{\(members.joined(separator: ","))}".utf8, limits: limits)
            }
            #expect(error?.code == .repeatedName)
        }
    }

    @Test(
        "Escapes are read wherever they stand, and control characters nowhere",
        arguments: [
            (#""a""#, "a"), (#""""#, ""), (#""\n""#, "\n"), (#""\na""#, "\na"), (#""a\n""#, "a\n"),
            (#""a\"\\b\n\nc""#, "a\"\\b\n\nc"),
            ("\"a\u{1}\"", nil), ("\"\\n\u{1F}\"", nil), (#""\n"#, nil), (#""a\"#, nil), (#""\x""#, nil),
            ("\"\u{7F}\"", "\u{7F}"),
        ] as [(String, String?)])
    func strings(_ text: String, _ value: String?) {
        #expect((try? JSON.parse(text.utf8))?.string == value)
    }

    @Test(
        "Bytes that are not UTF-8 are refused, behind an escape as well",
        arguments: [[], Array(#"\n"#.utf8)] as [[UInt8]])
    func invalidText(_ before: [UInt8]) {
        for bytes in [[0x80], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xFF]] as [[UInt8]] {
            let error = #expect(throws: JSONError.self) { try JSON.parse([0x22] + before + bytes + [0x22]) }
            #expect(error?.code == .invalidText && error?.offset == 0)
        }
    }

    @Test(
        "An error says where",
        arguments: [("[1,]", 3), ("", 0), ("{\"a\" 1}", 5), ("[1] 2", 4), ("nul", 3), ("[\"\u{1}\"]", 2)])
    func offsets(_ text: String, _ offset: Int) {
        let error = #expect(throws: JSONError.self) { try JSON.parse(Array(text.utf8)) }
        #expect(error?.offset == offset)
    }

    @Test("Numbers beyond a double are refused, and large whole ones become doubles")
    func numbers() throws {
        #expect(throws: JSONError.self) { try JSON.parse(Array("1e400".utf8)) }
        #expect(try JSON.parse(Array("9223372036854775808".utf8)) == .number(9_223_372_036_854_775_808))
        #expect(throws: JSONError.self) { try JSON.parse([UInt8](repeating: 0x39, count: 600)) }
    }
}
