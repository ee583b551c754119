import AssayCore
import Testing

/// A log line that text from outside can split, forge or fill is one that an operator cannot trust.
@Suite("Text from outside in a log line")
struct LogFieldTests {
    @Test(
        "Plain words stand as they are, and everything else in quotation marks",
        arguments: [
            ("word", "word"), ("a-b_c.d/e:f", "a-b_c.d/e:f"), ("é😀", "é😀"), ("", #""""#), ("a b", #""a b""#),
            ("a=b", #""a=b""#), (#"a"b"#, #""a\"b""#), (#"a\b"#, #""a\\b""#), ("a\n", #""a\n""#),
            ("\r\t", #""\r\t""#), ("\u{0}", #""\u0000""#), ("\u{7F}", #""\u007f""#), ("\u{202E}x", #""\u202ex""#),
            ("\u{E0001}", #""\udb40\udc01""#), ("\u{A0}", #""\u00a0""#), ("\u{FEFF}", #""\ufeff""#),
        ])
    func values(_ text: String, _ shown: String) {
        #expect(LogField.value(text) == shown)
        #expect("\(LogField(text))" == shown)
        #expect(LogField(text).text.isExactly(text), "a structured log has the text itself")
    }

    @Test("What is shown in quotation marks is a JSON string of the same text")
    func readable() throws {
        for value in UInt32(0)...0x2FF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let text = "a \(Character(scalar))\\\"="
            let shown = LogField.value(text)
            #expect(try JSON.parse(shown.utf8).string.isExactly(text), "U+\(String(value, radix: 16))")
        }
    }

    @Test(
        "A long text is cut where the limit is reached, between characters, and says so",
        arguments: [
            ("abcdef", 6, "abcdef"), ("abcdefg", 6, "abcdef..."), ("a b c", 3, #""a b...""#), ("ééé", 3, "éé..."),
            ("\n\n\n", 3, #""\n\n...""#), ("abc", 0, "..."), ("", 0, #""""#),
            (#""""""#, 3, #""\"\"...""#),
        ])
    func cut(_ text: String, _ limit: Int, _ shown: String) {
        #expect(LogField.value(text, limit: limit) == shown)
    }

    @Test("However long and hostile a text is, what is shown stays near the limit", arguments: [1, 20, 100])
    func bounded(_ limit: Int) {
        for unit in ["a", "\u{202E}", "\u{10FFFF}", "\"", "\\", "e\u{301}", "\n"] {
            let text = String(repeating: unit, count: 10_000)
            // The last character may be one of twelve bytes, with two quotation marks and three dots.
            #expect(LogField.value(text, limit: limit).utf8.count <= limit + 12 + 5 + limit, "\(unit.utf8.count)")
            #expect(LogField.words(text, limit: limit).utf8.count <= limit + 12 + 3)
            #expect(LogField.name(text, limit: limit).utf8.count <= limit + 4 + 3)
        }
    }

    @Test("Words have no quotation marks around them, and keep those within")
    func words() {
        #expect(LogField.words(#"say "a b" = c"#) == #"say "a b" = c"#)
        #expect(LogField.words("a\nb\\") == #"a\nb\\"#)
        #expect(LogField.words("abc", limit: 2) == "ab...")
    }

    @Test(
        "A name has no character that would end it",
        arguments: [
            ("reason", "reason"), ("", "_"), ("a b", "a_b"), ("a=b", "a_b"), ("a\"\\b", "a__b"), ("\n\u{202E}", "__"),
            ("é", "é"), ("\u{A0}", "_"),
        ])
    func names(_ text: String, _ shown: String) {
        #expect(LogField.name(text) == shown)
    }
}
