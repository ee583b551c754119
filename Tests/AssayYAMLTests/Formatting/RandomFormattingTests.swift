import AssayCore
import AssayYAML
import Testing

/// Formatting of texts that nobody wrote.
struct RandomFormattingTests {
    @Test(arguments: 0..<20)
    func `Texts that differ in layout only are formatted alike`(_ part: Int) throws {
        for seed in (part * 100)..<(part * 100 + 100) {
            let expected = RandomText(seed: UInt64(seed), noise: nil).text
            let other = RandomText(seed: UInt64(seed), noise: UInt64(seed) + 1_000_000).text
            try #require(try formatted(expected) == expected, "seed \(seed)")
            try #require(try formatted(other) == expected, "seed \(seed): \(other)")
            try expectSame(other)
        }
    }

    @Test(arguments: 0..<20)
    func `A damaged text is refused or keeps what it says`(_ part: Int) throws {
        var numbers = RandomText.Numbers(seed: UInt64(part) + 77)
        let signs = Array("\t\n\r :,-?[]{}#&*!|>'\"%@`\\0a\u{FEFF}".utf8)
        var accepted = 0
        for seed in 0..<100 {
            var bytes = Array(RandomText(seed: UInt64(seed), noise: UInt64(part * 100 + seed)).text.utf8)
            for _ in 0..<numbers.next(1...3) {
                let place = numbers.next(0...(bytes.count - 1))
                switch numbers.next(0...3) {
                case 0: bytes.remove(at: place)
                case 1: bytes.insert(signs[numbers.next(0...(signs.count - 1))], at: place)
                case 2: bytes[place] = signs[numbers.next(0...(signs.count - 1))]
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { bytes = [UInt8(ascii: "\n")] }
            }
            guard let text = String(validating: bytes, as: UTF8.self), (try? parse(text)) != nil,
                (try? formatted(text)) != nil
            else {
                continue
            }
            accepted += 1
            try expectSame(text)
        }
        #expect(accepted > 5)
    }

    /// A text of about a quarter of a megabyte: something before a part that is repeated, and after it.
    static func hostile(_ start: String, _ part: String, _ end: String = "") -> String {
        start + String(repeating: part, count: 250_000 / part.utf8.count) + end
    }

    private static let deep =
        "- " + String(repeating: "- ", count: 30) + "#c\n"
        + (0..<30).reversed().map { String(repeating: " ", count: $0) + " #c\n" }.joined()
    private static let brackets =
        "- " + String(repeating: "[", count: 31) + String(repeating: "]", count: 31) + "\n"

    @Test(arguments: [
        ("comments", hostile("#c\n", "   #c\n", "a: 1\n")),
        ("comments behind items", hostile("", "- 1 #c\n    #d\n")),
        ("one long line", hostile("a: [", "b,", "b]\n")), ("one long comment", hostile("a: 1 #", "c ")),
        ("one long text", hostile("a: \"", "é ", "\"   # c\n")),
        ("a text of many lines", hostile("a: \"b\n", " \\\\ \n", "\"\n")),
        ("a block of many lines", hostile("a: |\n", "    b\n\n")), ("blanks", hostile("a:", " ", "1\n")),
        ("empty lines", hostile("a: 1\n", " \t\n", "b: 2\n")), ("deep brackets", hostile("", brackets)),
        ("deep blocks", hostile("", deep)),
        ("items", hostile("", "-   a: 1\n")), ("empty lines of a block", hostile("a: |\n  b\n", "  \n", "c: 1\n")),
        ("backslashes", hostile("a: \"", "\\\\", "   \n b\"\n")),
        ("a hundred thousand comments", String(repeating: "#c\n", count: 100_000)),
    ])
    func `A text that is made to be slow is formatted within seconds`(_ name: String, _ text: String) throws {
        var result = ""
        let time = try ContinuousClock().measure { result = try formatted(text) }
        // It takes two seconds; one that took the square of the length would take hours.
        #expect(time < .seconds(20), "\(name): \(text.utf8.count) bytes in \(time)")
        #expect(result.utf8.filter { $0 > 0x20 }.elementsEqual(text.utf8.filter { $0 > 0x20 }), "\(name)")
        #expect(try formatted(result) == result, "\(name)")
    }
}
