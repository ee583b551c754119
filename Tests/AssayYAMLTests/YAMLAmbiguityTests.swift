import AssayCore
import AssayYAML
import Testing

/// What libyaml reads otherwise than authors mean it, or refuses in words that help nobody.
struct YAMLAmbiguityTests {
    private func value(_ text: String) throws(Diagnostics) -> String? {
        try decode([String: String].self, text)["v"]
    }

    private func refusals(_ text: String) -> [String] {
        problems { () throws(Diagnostics) in _ = try parse(text) }
    }

    // MARK: Halves of characters

    @Test(arguments: [
        (#"v: "\ud83d\ude00""#, "😀"), (#"{"v":"\uD83D\uDE00"}"#, "😀"), (#"v: "a\ud83d\ude00b\ud834\udd1ec""#, "a😀b𝄞c"),
        (#"v: "\ud800\udc00\udbff\udfff""#, "\u{10000}\u{10FFFF}"), (#"v: "\\ud83d""#, #"\ud83d"#),
        (#"v: "\\\ud83d\ude00\"""#, #"\😀""#), (#"v: '\ud83d'"#, #"\ud83d"#), (#"v: \ud83d\ude00"#, #"\ud83d\ude00"#),
        ("v: |-\n  \"\\ud83d\\ude00\"", #""\ud83d\ude00""#), ("# \\ud83d\nv: \"\\ud83d\\ude00\" # \\ude00", "😀"),
        ("w: '\\ud83d'\nv: \"\\ud83d\\ude00\"\nx: \\ude00", "😀"), ("v: \"é\\ud83d\\ude00\n  b\"", "é😀 b"),
        ("é: \"é\"\nv: \"\\ud83d\\ude00\"", "😀"), ("v: \"\\ud83d\\ude00\\u00e9\\x41\\n\"", "😀éA\n"),
    ])
    func `Two escapes in double quotes are the character that JSON means, and text anywhere else`(
        _ text: String, _ expected: String
    ) throws {
        #expect(try value(text) == expected)
    }

    @Test func `Keys and many texts are read so, too`() throws {
        let members = (0..<2000).map { #""\ud83d\ude00\#($0)":"\ud834\udd1e\#($0)""# }
        let read = try decode([String: String].self, "{" + members.joined(separator: ",") + "}")
        #expect(read.count == 2000)
        #expect(read["😀1999"] == "𝄞1999")
    }

    @Test(arguments: [
        (#"v: "\ud83d""#, ["1:5"]), (#"v: "\ude00""#, ["1:5"]), (#"v: "ab\ude00\ud83d""#, ["1:7", "1:13"]),
        (#"v: "\ud83d\u0041""#, ["1:5"]), (#"v: "\ud83d \ude00""#, ["1:5", "1:12"]),
        (#"v: "\ud83d\ude00\ud83d""#, ["1:17"]), ("v: \"é\n  \\ud83d\"", ["2:3"]), ("v: \"a\r\n\\ud83d\"", ["2:1"]),
        (#"{"\ud83d": 1}"#, ["1:3"]), ("\t\na: \"\\udc00\"", ["2:5"]),
    ])
    func `Half of a character is refused where it stands`(_ text: String, _ places: [String]) {
        let found = refusals(text)
        #expect(found.map { String($0.prefix { $0 != " " }) } == places)
        #expect(found.allSatisfy { $0.contains("half of a character") && $0.contains("`\\udc00`") })
    }

    @Test func `What follows such a text keeps its place`() throws {
        let line = #"{"é\ud83d\ude00": "\ud83d\ude00\ud83d\ude00", "x": [], "x": 1}"#
        #expect(refusals(line) == ["1:56 x: duplicate key `x`"])
        #expect(refusals("a: \"\\ud83d\\ude00\"\nb: \"\\ud83d\\ude00\" x").map { $0.prefix(4) } == ["2:19"])
        #expect(refusals("a: \"\\ud83d\\ude00 \\q\"").map { $0.prefix(5) } == ["1:18 "])
        #expect(refusals("a: \"\\ud83d\\ude00").map { $0.prefix(5) } == ["1:17 "])
        let node = try parse("a: \"\\ud83d\\ude00\"\nb: \"\\ud83d\\ude00\"")
        #expect(node.entries?.map(\.keyLocation.description) == ["policy.yaml:1:1", "policy.yaml:2:1"])
        #expect(node["b"]?.location.description == "policy.yaml:2:4")
    }

    @Test func `A number that is no character is refused in words`() {
        #expect(refusals(#"a: "\U0000d83d""#).first?.contains("(Unicode has no such character)") == true)
        #expect(refusals(#"a: "\U00110000""#).first?.contains("(Unicode has no such character)") == true)
    }

    // MARK: Blank lines

    @Test(arguments: [
        "v: 1\n\t\nw: 2", "v: 1\n  \t\nw: 2", "\t\nv: 1\nw: 2", "v: 1\nw: 2\n\t", "v: 1\r\n\t\r\nw: 2\r\n",
        "{v: 1,\n\t\n w: 2}", "v: 1 # é\n\t \t\n\t\n\nw: 2",
    ])
    func `A line of spaces and tabs is a blank line`(_ text: String) throws {
        #expect(try decode([String: Int].self, text) == ["v": 1, "w": 2])
    }

    @Test func `A blank line with a tab does not end what it stands in`() throws {
        let text = "a:\n  - x: 1\n\t\n    y: 2\n\t\t\n  - x: 3\n    y: 4\n"
        #expect(try decode([String: [[String: Int]]].self, text) == ["a": [["x": 1, "y": 2], ["x": 3, "y": 4]]])
        #expect(try value("v: a\n\t\n  b") == "a\nb")
        #expect(try value("v: \"a\n\t\n  b\"") == "a\nb")
    }

    @Test(arguments: [
        ("v: |\n  x\n\t\n  y\n", "x\n\ny\n"), ("v: |\n  x\n \t\n  y\n", "x\n\ny\n"),
        ("v: |\n  x\n  \t\n  y\n", "x\n\t\ny\n"),
        ("v: |\n  x\n   \t \n  y\n", "x\n \t \ny\n"), ("v: |\n  x\n\ty\n", nil),
        ("v: |\n  x\n      y\n    \t\n  z\n", "x\n    y\n  \t\nz\n"),
        ("v: |\n  x\n\t\nw: y\n", "x\n"), ("v: >\n  x\n\t\n  y\n", "x\ny\n"), ("v: |2\n  x\n  \t\n  y\n", "x\n\t\ny\n"),
        ("v: |\n\t\n  x\n", "\nx\n"),
    ])
    func `In a block of text a tab behind the indentation belongs to the text`(_ text: String, _ expected: String?)
        throws
    {
        guard let expected else {
            #expect(
                refusals(text) == [
                    "3:1 found a tab character where an indentation space is expected while scanning a block scalar (indent with spaces: YAML allows no tabs there)"
                ])
            return
        }
        #expect(try value(text) == expected)
    }

    @Test func `Blank lines with tabs do not move what follows`() {
        #expect(refusals("a: 1\n\t\nb: 2\n\t\t\na: 3") == ["5:1 a: duplicate key `a`"])
        #expect(refusals("a: 1\n\t\t\nb: \u{7}") == ["3:4 control characters are not allowed (U+0007)"])
        #expect(refusals("a: |\n  x\n  \t\n\t\nb: \u{7}") == ["5:4 control characters are not allowed (U+0007)"])
    }

    @Test(arguments: ["a: 1\n\tb: 2", "a:\n\tb: 2", "-\ta: 1", "a:\n\t- b"])
    func `A tab that indents is refused in words`(_ text: String) {
        let found = refusals(text)
        #expect(found.count == 1)
        #expect(found.first?.contains("(indent with spaces: YAML allows no tabs there)") == true)
    }

    // MARK: Documents

    @Test(arguments: ["v: 1\n---\n", "v: 1\n---", "---\nv: 1\n...\n---\n# end\n", "---\n---\nv: 1", "v: 1\n...\n"])
    func `A document that holds nothing does not count`(_ text: String) throws {
        #expect(try decode([String: Int].self, text) == ["v": 1])
    }

    @Test func `A second document is refused with the place of the first`() throws {
        let error = try #require(throws: Diagnostics.self) { try parse("\n---\nv: 1\n--- {w: 2}") }
        #expect(error.all.map { $0.location?.description } == ["policy.yaml:4:1"])
        #expect(error.all.first?.related.map(\.location.description) == ["policy.yaml:3:1"])
        #expect(refusals("a: 1\n...\nb: 2").first?.contains("(a line `...` ends the document: remove it)") == true)
    }

    // MARK: Plain text

    @Test(arguments: [
        ("{?foo: bar}", "1:2 foo"), ("[{a: b, ?foo: bar}]", "1:9 [0].foo"), ("a: [x, ?b]", "1:8 a[1].b"),
        ("a: [?b]", "1:5 a[0].b"), ("{\"?\": 1, ?\"e\": 2}", "1:10 e"), ("{é: \"é ?x\", ?a: b}", "1:13 a"),
    ])
    func `A question mark at the start of a key is refused and not left out`(_ text: String, _ place: String) {
        #expect(
            refusals(text) == [
                "\(place): `?` at the start of a key is read as a sign and not as a part of the key "
                    + "(put the key in quotes, or leave the `?` out)"
            ])
    }

    @Test(arguments: [
        ("v: ?b", "?b"), ("v: a ?b", "a ?b"), ("v: \" ?b\"", " ?b"), ("? v\n: b", "b"), ("{? v : b}", "b"),
        ("{\"v\": x?y}", "x?y"),
        ("v: https://example.com/?a=b", "https://example.com/?a=b"),
    ])
    func `A question mark elsewhere is read as it looks`(_ text: String, _ expected: String) throws {
        #expect(try value(text) == expected)
    }

    @Test(arguments: [
        ("a: &an:chor b", "1:7 a: the name of an anchor continues after `an`"),
        ("a: &x?y z", "1:6 a: the name of an anchor continues after `x`"),
        ("a: &x 1\nb: [*x:y]", "2:7 b[0]: the name of an anchor continues after `x`"),
    ])
    func `The name of an anchor that libyaml cuts off is refused`(_ text: String, _ problem: String) {
        #expect(
            refusals(text).contains(
                problem + " (use letters, digits, `_` and `-` only, and a space after the name)"))
    }

    @Test func `Anchors whose names end where they seem to are read`() throws {
        let text = "a: &x-1 1\nb: [&y 2,*y,*x-1]\nc: {d: *y}\ne: &z\n  - 1\n"
        #expect(try parse(text)["b"]?.elements?.count == 3)
        #expect(try parse(text)["c"]?["d"]?.integer(Int.self) == 2)
    }

    @Test(arguments: [
        ("v:\n  - a\n   - b", "3:4 v[0]"), ("v:\n- a\n  -\n", "3:3 v[0]"), ("v: a\n  b\n  - c", "3:3 v"),
        ("v: [a\n - b]", "2:2 v[0]"),
    ])
    func `An item that would become a part of the text above is refused`(_ text: String, _ place: String) {
        let found = refusals(text)
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("\(place): `- ` is read as a part of the text that starts in line") == true)
        #expect(found.first?.hasSuffix("(indent it like the items of its list, or put the text in quotes)") == true)
    }

    @Test(arguments: [
        ("v: a\n  b", "a b"), ("v: a\n  -b", "a -b"), ("v: \"a\n  - b\"", "a - b"), ("v: |-\n  a\n  - b", "a\n- b"),
        ("v: a - b", "a - b"),
        ("v: a#b", "a#b"), ("v: a #b", "a"), ("v: no", "no"), ("v: 012", "012"), ("v: 1_000", "1_000"),
        ("v: 0x1F", "0x1F"), ("v: 12:30:45", "12:30:45"),
        ("v: 2026-12-31", "2026-12-31"), ("v: .inf", ".inf"), ("v: on", "on"), ("v: '\"a'", "\"a"),
        ("v: [a]\n".replacing("[a]", with: "a\t"), "a"),
    ])
    func `Text is read as it looks`(_ text: String, _ expected: String) throws {
        #expect(try value(text) == expected)
    }

    // MARK: Lines

    @Test(arguments: [
        ("\u{85}", "NEL (U+0085)", "`\\u0085`"), ("\u{2028}", "LS (U+2028)", "`\\u2028`"),
        ("\u{2029}", "PS (U+2029)", "`\\u2029`"),
    ])
    func `A line break that editors do not show is refused: a comment would hide a key`(
        _ end: String, _ name: String, _ escape: String
    ) throws {
        for (text, place) in [("# é\(end)admin: true", "1:4"), ("a: 1\nb: \"x\(end)y\"", "2:6"), ("a: 1\(end)", "1:5")]
        {
            #expect(
                refusals(text) == [
                    "\(place) \(name) ends a line in YAML 1.1, and in no editor (remove it, or write it as \(escape) in double quotes)"
                ])
        }
        #expect(try value("v: \"x\(escape.filter { $0 != "`" })y\"") == "x\(end)y")
    }

    // MARK: Hints

    @Test(arguments: [
        ("a:\n  b: 1\n c: 2", "this line is indented by 1 space: indent it by 2, as in line 2, or by 0, as in line 1"),
        (
            "a:\n  - b: 1\n   c: 2",
            "this line is indented by 3 spaces: indent it by 4, as in line 2, or by 0, as in line 1"
        ),
        ("a:\n  - b: 1\n     c: 2", "this line is indented by 5 spaces: indent it by 4, as in line 2"),
        (
            "a:\n  b:\n    c: 1\n\n  # x\n   d: 2",
            "this line is indented by 3 spaces: indent it by 4, as in line 3, or by 2, as in line 2"
        ),
        ("a:\n  - 1\n - 2", "this line is indented by 1 space: indent it by 2, as in line 2, or by 0, as in line 1"),
        ("a: x: y", "a text that contains `: ` must be in quotes"),
        ("a: 1\nb:2\nc: 3", "write a space after the colon in line 2"),
        ("a:\n  b:2\n  c: 3", "write a space after the colon in line 2"),
        ("a: %x", "a text that begins with this character must be in quotes"),
    ])
    func `A mistake in layout is met with what was perhaps meant`(_ text: String, _ hint: String) {
        let found = refusals(text)
        #expect(found.count == 1)
        #expect(found.first?.hasSuffix(" (\(hint))") == true, "\(found)")
    }

    @Test(arguments: ["a: \"b\"c", "a: [b]c", "a: 'b' d\ne: 1"])
    func `No indentation is blamed where it is right`(_ text: String) {
        #expect(refusals(text).allSatisfy { !$0.contains("indented") })
    }

    // MARK: Encodings

    @Test(arguments: [
        (UTF16LE.self as any Wide.Type, "UTF-16 (little endian)", "UTF-16LE"),
        (UTF16BE.self, "UTF-16 (big endian)", "UTF-16BE"),
        (UTF32LE.self, "UTF-32 (little endian)", "UTF-32LE"), (UTF32BE.self, "UTF-32 (big endian)", "UTF-32BE"),
    ])
    func `A file in another encoding is refused by its name, with a mark or without`(
        _ wide: any Wide.Type, _ name: String, _ iconv: String
    ) {
        for text in ["\u{FEFF}a: 1\n", "a: 1\n", "\u{FEFF}ä: 1"] {
            let found = problems { () throws(Diagnostics) in
                _ = try YAMLDocument.parse(wide.encode(text), file: "policy.yaml")
            }
            #expect(
                found == [
                    "1:1 the file is \(name), not UTF-8 (save it as UTF-8, for example with `iconv -f \(iconv) -t UTF-8`)"
                ])
        }
    }

    @Test func `A mark of UTF-8 is passed over`() throws {
        #expect(try value("\u{FEFF}v: 1") == "1")
    }
}

protocol Wide: Sendable {
    static var isBig: Bool { get }
    static var bytes: Int { get }
}

extension Wide {
    static func encode(_ text: String) -> [UInt8] {
        let units = bytes == 2 ? text.utf16.map { UInt32($0) } : text.unicodeScalars.map(\.value)
        return units.flatMap { unit in
            let little = (0..<bytes).map { UInt8(truncatingIfNeeded: unit >> UInt32($0 * 8)) }
            return isBig ? little.reversed() : little
        }
    }
}

private enum UTF16LE: Wide { static let isBig = false, bytes = 2 }
private enum UTF16BE: Wide { static let isBig = true, bytes = 2 }
private enum UTF32LE: Wide { static let isBig = false, bytes = 4 }
private enum UTF32BE: Wide { static let isBig = true, bytes = 4 }
