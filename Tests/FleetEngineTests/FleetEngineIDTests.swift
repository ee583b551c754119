import AssayCore
import AssayFleetEngine
import AssayKit
import Testing

private let good = [
    "a", "vehicle-1", "*", "a*", "with space", "Müller", "\u{E9}", "कि", "한국", "🚚", "q\u{323}\u{307}", "-", "%2F",
    String(repeating: "a", count: 64), String(repeating: "🚚", count: 64),
]

// No literal may have it.
private let noncharacter = Unicode.Scalar(0xFFFE as UInt16).map { String(Character($0)) } ?? ""

private let bad = [
    "", String(repeating: "a", count: 65), String(repeating: "🚚", count: 65), String(repeating: "a", count: 1_000_000),
    "a/b", "a:b", "a?b", "a,b", "a#b", "/", "a\u{0}", "a\nb", "a\tb", "a\u{7F}", "a\u{85}", "a\u{2028}", "a\u{2029}",
    "a\(noncharacter)",
    // Other spellings of what normalization form C spells otherwise.
    "e\u{301}", "\u{212A}", "\u{1100}\u{1161}", "\u{958}", "q\u{307}\u{323}", "\u{1D15E}",
    // A decomposition among 65 scalars is refused for its length, among 64 for its form.
    String(repeating: "a", count: 62) + "e\u{301}",
]

@Suite("IDs of Fleet Engine")
struct FleetEngineIDTests {
    @Test("An ID is 1 to 64 characters in normalization form C", arguments: good)
    func isID(_ text: String) {
        #expect(FleetEngineID(text)?.text == text)
    }

    @Test("Anything else is none", arguments: bad)
    func isNone(_ text: String) {
        #expect(FleetEngineID(text) == nil)
    }

    @Test("Only the star alone stands for all")
    func all() {
        #expect(FleetEngineID("*")?.isAll == true)
        #expect(FleetEngineID("**")?.isAll == false)
        #expect(FleetEngineID("a*")?.isAll == false)
    }
}
