import AssayCore
import AssayYAML
import Testing

struct YAMLRefusalTests {
    struct BadFile: Sendable, CustomTestStringConvertible {
        let text: String
        let problems: [String]

        init(_ text: String, _ problems: String...) {
            self.text = text
            self.problems = problems
        }

        var testDescription: String { text.debugDescription }
    }

    static let syntax: [BadFile] = [
        BadFile("a: [1, 2", "1:9 did not find expected ',' or ']' while parsing a flow sequence"),
        BadFile("a: {b: 1\n", "2:1 did not find expected ',' or '}' while parsing a flow mapping"),
        BadFile("a: {b: 1", "1:9 did not find expected ',' or '}' while parsing a flow mapping"),
        BadFile(
            "a: 1\n b: 2",
            "2:3 mapping values are not allowed in this context "
                + "(this line is indented by 1 space: indent it by 0, as in line 1)"),
        BadFile("a: \"open", "1:9 found unexpected end of stream while scanning a quoted scalar"),
        BadFile(
            "a:\n  - 1\n b: 2",
            "3:2 did not find expected key while parsing a block mapping "
                + "(this line is indented by 1 space: indent it by 4, as in line 2, or by 0, as in line 1)"),
        BadFile(
            "a:\n  b: x\n   \u{A0}c: 2",
            "3:6 mapping values are not allowed in this context "
                + "(line 3 begins with the character U+00A0, which is no space)"),
        BadFile(
            "a:\n\tb: 1",
            "2:1 found character that cannot start any token while scanning for the next token "
                + "(indent with spaces: YAML allows no tabs there)"),
        BadFile(
            "a: @b",
            "1:4 found character that cannot start any token while scanning for the next token "
                + "(a text that begins with this character must be in quotes)"),
        BadFile(
            "a: \"\\q\"",
            "1:5 found unknown escape character while parsing a quoted scalar "
                + "(write a backslash in double quotes as `\\\\`, or use single quotes)"),
        BadFile("a: 1\nb: \u{7}", "2:4 control characters are not allowed (U+0007)"),
        BadFile(
            "a:\n  b\u{FF1A} 1\n  c: 2",
            "3:4 mapping values are not allowed in this context "
                + "(the colon at 2:4 is the full-width colon U+FF1A: write `:` and a space)"),
        BadFile("a:\n<<<<<<< HEAD\n  b: 1\n=======\n  b: 2\n>>>>>>> other\n", conflict(2)),
        BadFile("a: 1\n  =======\n=======\nb: 2", conflict(3)),
        BadFile("a: 1\n>>>>>>> other\nb: 2", conflict(2)),
        BadFile(
            "a: \"open\n======== \n<<<<<<<x\n", "4:1 found unexpected end of stream while scanning a quoted scalar"),
    ]

    private static func conflict(_ line: Int) -> String {
        "\(line):1 a merge conflict is not resolved "
            + "(keep one of the versions, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`)"
    }

    static let shape: [BadFile] = [
        BadFile("a: 1\nb: 2\na: 3", "3:1 a: duplicate key `a`"),
        BadFile("p:\n  - x: 1\n    x: 2", "3:5 p[0].x: duplicate key `x`"),
        BadFile("{a: 1, \"a\": 2, 'a': 3}", "1:8 a: duplicate key `a`", "1:16 a: duplicate key `a`"),
        BadFile("? [a]\n: 1", "1:3 expected a key, found a sequence"),
        BadFile("p:\n  ? {a: 1}\n  : 1", "2:5 p: expected a key, found a mapping"),
        BadFile("a: &x k\n*x : 1", "2:1 expected a key, found an alias"),
        BadFile("&x a: 1", "1:1 an anchor on a key is not supported"),
        BadFile("a: !!str 1", "1:4 a: explicit tags are not supported: `tag:yaml.org,2002:str`"),
        BadFile("a:\n  - !mine {b: 1}", "2:5 a[0]: explicit tags are not supported: `!mine`"),
        BadFile("a: ! 1", "1:4 a: explicit tags are not supported: `!`"),
        BadFile("!!map {a: 1}", "1:1 explicit tags are not supported: `tag:yaml.org,2002:map`"),
        BadFile("a: &x {b: 1}\nc:\n  <<: *x", "3:3 c[\"<<\"]: merge keys (`<<`) are not supported (repeat the keys)"),
        BadFile(
            "a: 1\n---\nb: 2",
            "2:1 more than one document in the file "
                + "(remove the `---`, or write each document into a file of its own)"),
        BadFile(
            "---\n---\na: 1\n---\n---\n~",
            "5:1 more than one document in the file "
                + "(remove the `---`, or write each document into a file of its own)"),
        BadFile("a: *missing", "1:4 a: no anchor: `*missing`"),
        BadFile("a: &x [*x]", "1:8 a[0]: an alias within its own anchor: `*x`"),
        BadFile("a: &x 1\nb: &x [*x]", "2:8 b[0]: an alias within its own anchor: `*x`"),
        BadFile("a: !x 1\nb: 1\nb: 2", "1:4 a: explicit tags are not supported: `!x`", "3:1 b: duplicate key `b`"),
        BadFile(
            "b: 1\nb: 2\na: [", "2:1 b: duplicate key `b`",
            "3:5 did not find expected node content while parsing a flow node"),
    ]

    @Test(arguments: syntax + shape)
    func `A bad file is refused at the place, with the path and the reason`(_ file: BadFile) {
        #expect(problems { () throws(Diagnostics) in _ = try parse(file.text) } == file.problems)
    }

    @Test(
        arguments: [
            ([0x61, 0x3A, 0x20, 0x0A, 0x62, 0xFF], "2:2 not UTF-8 text"),
            ([0xC3, 0xA9, 0x3A, 0x20, 0xC0, 0x80], "1:4 not UTF-8 text"),
            ([0x61, 0x3A, 0x20, 0xED, 0xA0, 0x80], "1:4 not UTF-8 text"),
            ([0xFF, 0x61, 0x3A], "1:1 not UTF-8 text"),
            ([0x61, 0x3A, 0x20, 0xC3], "1:4 not UTF-8 text"),
        ] as [([UInt8], String)])
    func `Bytes that are not UTF-8 are refused where they stand`(_ bytes: [UInt8], _ problem: String) {
        let found = problems { () throws(Diagnostics) in _ = try YAMLDocument.parse(bytes, file: "policy.yaml") }
        #expect(found == [problem])
    }

    @Test func `A syntax error also says where the unfinished part starts`() throws {
        let error = try #require(throws: Diagnostics.self) { try parse("a: 1\nb: [1,\n  2\nc: 3") }
        let notes = error.all.first?.related ?? []
        #expect(notes.map(\.message) == ["it starts here"])
        #expect(notes.map(\.location) == [SourceLocation(file: "policy.yaml", line: 2, column: 4)])
    }

    @Test(arguments: [2, 15, 16, 17, 40])
    func `A duplicate key is found in a mapping of any size, with both places`(_ size: Int) throws {
        for repeated in [1, size / 2 + 1, size] {
            let lines = (1...size).map { "key\($0): 1\n" }.joined() + "key\(repeated): 2\n"
            let error = try #require(throws: Diagnostics.self) { try parse(lines) }
            #expect(error.all.map(\.brief) == ["\(size + 1):1 key\(repeated): duplicate key `key\(repeated)`"])
            #expect(error.all.first?.related.first?.location.line == repeated)
            #expect(error.all.first?.related.first?.message == "first defined here")
        }
    }
}
