import AssayCore
import AssayYAML
import Testing

/// What a formatted text looks like.
struct FormattingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let expected: String

        /// - Parameter expected: nil for a text that stays as it is.
        init(_ text: String, _ expected: String? = nil) {
            self.text = text
            self.expected = expected ?? text
        }

        var testDescription: String { text.debugDescription }
    }

    static let indentation = [
        Case("a:\n    b:\n        c: 1\n", "a:\n  b:\n    c: 1\n"), Case("a:\n b: 1\n c: 2\n", "a:\n  b: 1\n  c: 2\n"),
        Case("a:\n- b\n- c\nd: e\n", "a:\n  - b\n  - c\nd: e\n"), Case("a:\n     - b\n", "a:\n  - b\n"),
        Case("a:\n- b: 1\n  c: 2\n-   d: 3\n    e: 4\n", "a:\n  - b: 1\n    c: 2\n  - d: 3\n    e: 4\n"),
        Case("-    a\n-  -  b\n   -  c\n", "- a\n- - b\n  - c\n"), Case("  a: 1\n  b: 2\n", "a: 1\nb: 2\n"),
        Case("-\n     a: 1\n     b: 2\n", "-\n  a: 1\n  b: 2\n"), Case("a:\n- - b\n  - c\n", "a:\n  - - b\n    - c\n"),
        Case("a:\n        b\n", "a:\n  b\n"), Case("a:\n - b:\n   - c\n   d: 1\n", "a:\n  - b:\n      - c\n    d: 1\n"),
        Case("? a\n:   - b\n    - c\n", "? a\n: - b\n  - c\n"),
        Case("?   a\n:   b:   1\n    c: 2\n", "? a\n: b: 1\n  c: 2\n"),
        Case("a:\n-\n-  \n- b\n", "a:\n  -\n  -\n  - b\n"),
        Case("a:   &x\n- 1\nb:   *x\n", "a: &x\n  - 1\nb: *x\n"), Case("a:\n    &x\n    b: 1\n", "a:\n  &x\n  b: 1\n"),
    ]

    static let spaces = [
        Case("a:   1\nb:\t2\n", "a: 1\nb: 2\n"), Case("a : 1\n\"b\"  : 2\n", "a: 1\n\"b\": 2\n"),
        Case("a: {  b:1x,c:   2 ,d  : 3}\n", "a: {b:1x, c: 2, d: 3}\n"), Case("a: [ 1,2 ,   3 ]\n", "a: [1, 2, 3]\n"),
        Case("{\"a\":1,\"b\":[{\"c\":2},{}],\"d\":[ ]}\n", "{\"a\": 1, \"b\": [{\"c\": 2}, {}], \"d\": []}\n"),
        Case("a: { b: , c: }\n", "a: {b: , c: }\n"), Case("a: [ b : 1 , c, ]\n", "a: [b: 1, c,]\n"),
        Case("a: [&x  b ,  *x ]\n", "a: [&x b, *x]\n"), Case("a: {?  b : c}\n", "a: {? b: c}\n"),
        Case("a:\nb:  \nc: 'x  y'  \n", "a:\nb:\nc: 'x  y'\n"), Case("a: b   c\n"),
        Case("---   {a: 1}\n", "--- {a: 1}\n"),
        Case("a: https://example.com/?a=b#c\n"), Case("a: 'it''s: [x,y]'\n"), Case("\"a: b\":  c\n", "\"a: b\": c\n"),
    ]

    static let lines = [
        Case("a: 1", "a: 1\n"), Case("a: 1\n\n\n", "a: 1\n"), Case("\n\n  \na: 1\n", "a: 1\n"),
        Case("a: 1\n\n\n\nb: 2\n \n\t\nc: 3\n", "a: 1\n\nb: 2\n\nc: 3\n"),
        Case("a: 1\r\nb:\r\n  - 2\r\n", "a: 1\nb:\n  - 2\n"),
        Case("a: 1\rb: 2\r", "a: 1\nb: 2\n"), Case("", ""), Case("\n \n", "\n"), Case("# only", "# only\n"),
        Case("\u{FEFF}a:  1\r\n", "\u{FEFF}a: 1\n"),
        Case("%YAML 1.1\n---\na:  1\n...\n", "%YAML 1.1\n---\na: 1\n...\n"),
        Case("---\n\n---\na: 1\n---\n# end", "---\n\n---\na: 1\n---\n# end\n"),
        Case("a:\n\n\n  b: 1\n", "a:\n\n  b: 1\n"),
    ]

    static let brackets = [
        Case("a: [\nb,\n      c\n]\n", "a: [\n  b,\n  c\n]\n"), Case("a: {b: 1,\n    c: 2}\n", "a: {b: 1,\n  c: 2}\n"),
        Case("- {a: 1,\n   b: 2}\n", "- {a: 1,\n    b: 2}\n"), Case("- {\n  a: 1\n}\n", "- {\n    a: 1\n  }\n"),
        Case("a: {b: [1,\n  2],\n  c: 3\n  }\n", "a: {b: [1,\n    2],\n  c: 3\n}\n".replacing("    2]", with: "  2]")),
        Case("a:\n  [b,\n  c]\n", "a:\n  [b,\n    c]\n"),
        Case("{\n\"a\":\n[\n1\n]\n}\n", "{\n  \"a\":\n  [\n    1\n  ]\n}\n"),
        Case("a: [b\n  , c\n  ,\n\n\n  d]\n", "a: [b\n  , c\n  ,\n\n  d]\n"),
        Case("a: [b # x\n   # y\n, c]# z\n", "a: [b  # x\n  # y\n  , c]  # z\n"),
        Case("a: [ # x\n  # y\n  b,\n# z\n]\n", "a: [  # x\n  # y\n  b,\n  # z\n]\n"),
        Case("a: [b\n c, d]\n", "a: [b\n    c, d]\n"),
    ]

    static let texts = [
        Case("a: b\n c\n\n\n   d  \n", "a: b\n  c\n\n\n  d\n"),
        Case("a: \"b  \n      c\\\n  d\n\n\n e \"\n", "a: \"b\n  c\\\n  d\n\n\n  e \"\n"),
        Case("a: 'b\n c # d'\n", "a: 'b\n  c # d'\n"), Case("- b\n c\n", "- b\n  c\n"),
        Case("a:\n   b\n   c\n", "a:\n  b\n  c\n"),
        Case("a: \"b\\ \n  c\"\n"), Case("a: \"b\\\\  \n c\"\n", "a: \"b\\\\\n  c\"\n"),
        Case("\"b\n c\"\n", "\"b\n  c\"\n"),
        Case("a: |\n     b\n       c # d\n\n\n     e\n", "a: |\n  b\n    c # d\n\n\n  e\n"),
        Case("a: |   # x\n b\n\n\nc: 1\n", "a: |  # x\n  b\n\nc: 1\n"),
        Case("a: |+\n b\n\n\nc: 1\n", "a: |+\n  b\n\n\nc: 1\n"),
        Case("a: |+\n b\n\n\n", "a: |+\n  b\n\n\n"), Case("a: >-\n    b\n      c\n    d", "a: >-\n  b\n    c\n  d\n"),
        Case("a: |2-\n   b\n  c\n", "a: |2-\n   b\n  c\n"),
        Case("a:\n  b: |1\n     c\n   d\n", "a:\n  b: |1\n     c\n   d\n"),
        Case("a:\n- |2\n    b\n", "a:\n  - |2\n      b\n"), Case("a: |\n  b", "a: |\n  b"),
        Case("a: |\n   b\n     \n   c\n", "a: |\n  b\n    \n  c\n"),
        Case("a: |\n\nb: 1\n"), Case("a: |\n# c\nb: 1\n"),
        Case("a: |\n   b\n   \t\n\t\n   c\n", "a: |\n  b\n  \t\n\n  c\n"),
        Case("--- |\n   b\n", "--- |\n  b\n"), Case("- - |\n   b\n  # c\n", "- - |\n    b\n  # c\n"),
        Case("a: |\r\n b\r\n", "a: |\n  b\n"),
        Case("a: \"\\ud83d\\ude00\"   # é\n", "a: \"\\ud83d\\ude00\"  # é\n"),
        Case(
            "a: \"\\ud83d\n \\ude00\" x\n".replacing(" x", with: "").replacing("\\ud83d\n ", with: "é\n \\ud83d"),
            "a: \"é\n  \\ud83d\\ude00\"\n"),
    ]

    @Test(arguments: indentation + spaces + lines + brackets + texts)
    func `A text has one layout`(_ example: Case) throws {
        #expect(try formatted(example.text) == example.expected)
        try expectSame(example.text)
    }

    @Test func `Long lines stay as they are`() throws {
        let line =
            "a: " + String(repeating: "long ", count: 100) + "end  # " + String(repeating: "words ", count: 100) + ".\n"
        #expect(try formatted(line) == line)
    }

    @Test(arguments: ["a: [", "a: 1\na: 2\n", "a: !x 1\n", "a: 1\n---\nb: 2\n", "a:\n\tb: 1\n", "\u{2028}"])
    func `A text that is not accepted is refused as when it is read`(_ text: String) throws {
        let refusals = problems { () throws(Diagnostics) in _ = try parse(text) }
        #expect(!refusals.isEmpty)
        #expect(
            problems { () throws(Diagnostics) in _ = try YAMLFormatter.format(Array(text.utf8), file: "policy.yaml") }
                == refusals)
    }

    @Test func `A text that cannot keep its meaning is refused at its place`() throws {
        let mark = "# é\na: 1\n\u{FEFF}# b\n"
        _ = try parse(mark)
        #expect(
            problems { () throws(Diagnostics) in _ = try YAMLFormatter.format(Array(mark.utf8), file: "policy.yaml") }
                == ["3:1 cannot be formatted without changing its meaning"])
    }
}

/// The text that the formatter makes.
func formatted(_ text: String) throws(Diagnostics) -> String {
    String(decoding: try YAMLFormatter.format(Array(text.utf8), file: "policy.yaml"), as: UTF8.self)
}

/// Expects that formatting keeps the tree and every character but blanks and line ends, and that a second time changes nothing.
func expectSame(_ text: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
    let result = try formatted(text)
    #expect(try formatted(result) == result, "not stable: \(text.debugDescription)", sourceLocation: sourceLocation)
    #expect(
        try parse(result).tree == parse(text).tree, "another tree: \(text.debugDescription)",
        sourceLocation: sourceLocation)
    let blanks: Set<UInt8> = [0x20, 0x09, 0x0A, 0x0D]
    #expect(
        result.utf8.filter { !blanks.contains($0) } == text.utf8.filter { !blanks.contains($0) },
        "other characters: \(text.debugDescription)", sourceLocation: sourceLocation)
}

extension YAMLNode {
    /// Everything that a value says, as text.
    var tree: String {
        switch content {
        case .scalar(let text, let isPlain): "\(isPlain ? "plain" : "quoted") \(Array(text.utf8))"
        case .sequence(let elements): "[\(elements.map(\.tree).joined(separator: ", "))]"
        case .mapping(let entries):
            "{\(entries.map { "\(Array($0.key.utf8)): \($0.value.tree)" }.joined(separator: ", "))}"
        }
    }
}
