import AssayCore
import Testing

@testable import AssayYAML

@Suite("Which parts of a line may be a secret")
struct SecretNamesTests {
    /// The line with each hidden part in angle brackets.
    private func marked(_ line: String) -> String {
        let scalars = Array(line.unicodeScalars)
        let hidden = SecretNames.values(in: scalars)
        var text = String.UnicodeScalarView()
        for (index, scalar) in scalars.enumerated() {
            if hidden.contains(where: { $0.lowerBound == index }) { text.append("<") }
            text.append(scalar)
            if hidden.contains(where: { $0.upperBound == index + 1 }) { text.append(">") }
        }
        return String(text)
    }

    @Test(
        "What stands behind a name that may name a secret is hidden to the end of the line",
        arguments: [
            ("password: a b # c", "password: <a b # c>"), ("  - API_KEY:\tx", "  - API_KEY:\t<x>"),
            ("{\"my.passphrase\" : 'x', b: 1}", "{\"my.passphrase\" : <'x', b: 1}>"),
            ("x: {clientSecret: [1, 2]}", "x: {clientSecret: [1, 2]}"),
            ("a: {token: b, c: d}", "a: {token: <b, c: d}>"),
            ("sha256: ab", "sha256: <ab>"), ("key: \u{E9}", "key: <\u{E9}>"), ("secret:x", "secret:<x>"),
            ("token_ttl: 1h, secret: y", "token_ttl: 1h, secret: <y>"),
        ])
    func hidden(_ line: String, _ expected: String) {
        #expect(marked(line).isExactly(expected))
    }

    @Test(
        "Harmless names, references, blocks that begin, and lines without a value are shown",
        arguments: [
            "token_ttl: 1h", "key_id: ABC", "TOKEN_URL: https://a", "secret_interval: 5m", "token: env:NAME",
            "password: 'file:/run/x'", "key:", "key: # later", "secrets: {", "token: |", "token: >-", "a: b", "",
            ":", "::::", "token token token", "\"\"\"", "monkey : ", "tokens: [a]",
        ])
    func shown(_ line: String) {
        #expect(marked(line).isExactly(line))
    }

    @Test("A name in a part that is known to be harmless hides nothing, and the names after it are looked at")
    func harmless() {
        let scalars = Array("{badge_key: ab, token: cd}".unicodeScalars)
        #expect(SecretNames.values(in: scalars) == [12..<26])
        #expect(SecretNames.values(in: scalars, except: [1..<14]) == [23..<26])
        #expect(SecretNames.values(in: scalars, except: [1..<14, 16..<25]) == [])
    }

    @Test(
        "The user and the password of a URL are hidden, whatever the key is called",
        arguments: [
            ("a: https://u:p@h/x@y", "a: https://<u:p>@h/x@y"), ("a: x://p@h y://q@i", "a: x://<p>@h y://<q>@i"),
            ("a: https://h/p@q", "a: https://h/p@q"), ("a: //u@h", "a: //u@h"), ("a: ://a@b@c", "a: ://<a@b>@c"),
        ])
    func credentials(_ line: String, _ expected: String) {
        #expect(marked(line).isExactly(expected))
    }
}

@Suite("Paths of values, and lines of files in messages")
struct PathAndExcerptTests {
    @Test("A path is written so that keys with any characters stay one key of one line")
    func paths() {
        let path = YAMLPath.root.key("projects").index(0).key("a b").key("x\n\"y").key("").key("z-1")
        #expect(path.description.isExactly("projects[0][\"a b\"][\"x<U+000A>\"y\"][\"\"].z-1"))
        #expect(YAMLPath.root.description.isEmpty)
        #expect(YAMLPath.root.index(3).description.isExactly("[3]"))
        #expect(YAMLPath.root.key("a").appending([1, "b"]).components == ["a", 1, "b"])
    }

    @Test("A key of any length makes a path of bounded length")
    func longKey() {
        let path = YAMLPath.root.key(String(repeating: "k", count: 100_000))
        #expect(path.description.unicodeScalars.count <= 66)
    }

    @Test(
        "Of a long line the part around the place is shown, with the caret under the same character",
        arguments: [0, 5, 79, 80, 81, 500, 999])
    func window(_ caret: Int) {
        let line = (0..<1000).map { Unicode.Scalar(UInt8(ascii: "a") + UInt8($0 % 26)) }
        let excerpt = SourceExcerpt(line: line, caret: caret, hiding: [])
        let shown = Array(excerpt.text.unicodeScalars)
        #expect(shown.count <= 110)
        #expect(shown[excerpt.caret] == line[caret])
    }

    @Test("A caret within what is hidden points to its beginning, and one behind the line stays behind it")
    func hiddenCaret() {
        let line = Array("key: secret # x".unicodeScalars)
        let within = SourceExcerpt(line: line, caret: 8, hiding: [5..<11])
        #expect(within.text.isExactly("key: *** # x") && within.caret == 5)
        let behind = SourceExcerpt(line: line, caret: 20, hiding: [5..<11])
        #expect(behind.caret == 17)
        #expect(behind.description.ends(withExactly: "\n  | \(String(repeating: " ", count: 17))^"))
    }
}
