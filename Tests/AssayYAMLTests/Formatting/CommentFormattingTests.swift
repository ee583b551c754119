import AssayYAML
import Testing

/// Where comments are in a formatted text.
struct CommentFormattingTests {
    typealias Case = FormattingTests.Case

    static let atEnds = [
        Case("a: 1 # x\n", "a: 1  # x\n"), Case("a: 1\t#x", "a: 1  # x\n"),
        Case("a:     #   x  \n  b: 1\n", "a:  #   x\n  b: 1\n"),
        Case("- # x\n  a: 1\n", "-  # x\n  a: 1\n"), Case("a: \"b\"#x\n", "a: \"b\"  # x\n"),
        Case("--- # x\na: 1\n", "---  # x\na: 1\n"),
        Case("a: >- #x\n b\n", "a: >-  # x\n  b\n"), Case("%YAML 1.1 #x\n---\na: 1\n", "%YAML 1.1  # x\n---\na: 1\n"),
        Case("a: b#c # d#e\n", "a: b#c  # d#e\n"), Case("a: \"b\n c\" # x\n", "a: \"b\n  c\"  # x\n"),
        Case("a: &x # y\n  b: 1\n", "a: &x  # y\n  b: 1\n"),
    ]

    static let signs = [
        Case("#x\na: 1\n", "# x\na: 1\n"), Case("#\na: 1\n"), Case("#!x\na: 1\n"),
        Case("########\n## x\n####y\na: 1\n"), Case("#   x\na: 1\n"),
        Case("# yaml-language-server: $schema=a.json\na: 1\n"), Case("#\tx\n"), Case("#é\n", "# é\n"),
        Case("#a: 1\n", "# a: 1\n"),
    ]

    static let onLines = [
        // Before the first entry, before another one, after the last one.
        Case("a:\n# x\n    b: 1\n", "a:\n  # x\n  b: 1\n"),
        Case("a:\n    b: 1\n    # x\n    c: 2\n", "a:\n  b: 1\n  # x\n  c: 2\n"),
        Case("a:\n    b: 1\n    # x\nc: 2\n", "a:\n  b: 1\n  # x\nc: 2\n"),
        Case("a:\n    b: 1\n# x\nc: 2\n", "a:\n  b: 1\n# x\nc: 2\n"),
        Case("a:\n    b:\n        c: 1\n        # x\n    # y\n# z\n", "a:\n  b:\n    c: 1\n    # x\n  # y\n# z\n"),
        Case(
            "a:\n    b:\n        c: 1\n\n        # x\n\n\n    # y\n\n# z",
            "a:\n  b:\n    c: 1\n\n    # x\n\n  # y\n\n# z\n"),
        // Where every entry is commented out.
        Case("a:\n    # b: 1\nc: 2\n", "a:\n  # b: 1\nc: 2\n"), Case("a:\n  - b:\n      # c: 1\n    d: 2\n"),
        Case("-\n    # x\n- a\n", "-\n  # x\n- a\n"),
        // Lists.
        Case("a:\n- b\n# x\n- c\n# y\nd: 1\n", "a:\n  - b\n  # x\n  - c\n# y\nd: 1\n"),
        Case("a:\n- b\n  # x\nc: 1\n", "a:\n  - b\n  # x\nc: 1\n"),
        Case("a:\n# x\n- b\n", "a:\n  # x\n  - b\n"), Case("a:\n  # x\n- b\n", "a:\n  # x\n  - b\n"),
        Case("a:\n- b: 1\n  # x\n- c: 1\n", "a:\n  - b: 1\n    # x\n  - c: 1\n"),
        // Elsewhere.
        Case("? a\n# x\n: b\n", "? a\n# x\n: b\n"), Case("a: |\n    b\n  # x\nc: 1\n", "a: |\n  b\n# x\nc: 1\n"),
        Case("   # x\na: 1\n      # y\nb: 2\n", "# x\na: 1\n# y\nb: 2\n"),
        Case("# x\n---\n# y\na: 1\n...\n  # z\n", "# x\n---\n# y\na: 1\n...\n# z\n"),
        Case("a:\n    # x\n    - b\n", "a:\n  # x\n  - b\n"),
        Case("    # x\n    a: 1\n    # y\n# z\n", "# x\na: 1\n# y\n# z\n".replacing("# y", with: "# y")),
    ]

    static let aligned = [
        // Comments of several lines behind a value stay below each other.
        Case("a: 1    # x\n        # y\n        # z\nb: 2\n", "a: 1  # x\n      # y\n      # z\nb: 2\n"),
        Case("a: 1 # x\n    # y\nb: 2\n", "a: 1  # x\n# y\nb: 2\n"),
        Case("a: 1 # x\n\n     # y\nb: 2\n", "a: 1  # x\n\n# y\nb: 2\n"),
        Case("a: é # x\n     # y\n", "a: é  # x\n      # y\n"),
        Case("a: # x\n   # y\n   b: 1\n", "a:  # x\n  # y\n  b: 1\n"),
        Case("a: [b, # x\n       # y\n  c]\n", "a: [b,  # x\n        # y\n  c]\n"),
    ]

    @Test(arguments: atEnds + signs + onLines + aligned)
    func `A comment stays with what it is about`(_ example: Case) throws {
        #expect(try formatted(example.text) == example.expected)
        try expectSame(example.text)
    }
}
