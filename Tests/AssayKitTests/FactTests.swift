import AssayCore
import AssayKit
import Testing

@Suite("Facts and the fields of replies")
struct FactTests {
    @Test("Values are the same by their kind and their bytes, also when they are written alike")
    func equality() {
        #expect(Fact.Value.text("1") != .integer(1))
        #expect(Fact.Value.text("true") != .bool(true))
        #expect(Fact.Value.text("\u{E9}") != .text("e\u{301}"))
        #expect(Fact.Value.instant(Instant(seconds: 0)) != .text("1970-01-01T00:00:00Z"))
        for value in [Fact.Value.text("a"), .integer(-1), .bool(false), .instant(Instant(seconds: 5))] {
            #expect(value == value)
        }
        let facts: Set<Fact> = [
            Fact("a", .text("1")), Fact("a", .integer(1)), Fact("b", .integer(1)), Fact("b", .integer(1)),
        ]
        #expect(facts.count == 3)
    }

    @Test(
        "A value is written for logs in one way",
        arguments: [
            (Fact.Value.text("a b"), "a b"), (.integer(.min), "-9223372036854775808"), (.bool(true), "true"),
            (.instant(Instant(seconds: 1_795_262_400)), "2026-11-21T12:00:00Z"),
        ])
    func written(_ value: Fact.Value, _ text: String) {
        #expect("\(value)".isExactly(text))
    }

    @Test("Bytes in a reply are Base 64 with padding, which Apple's decoders need")
    func bytes() {
        #expect(ReplyField.bytes("artifact", [0xFB, 0xFF]) == ReplyField("artifact", "+/8="))
    }
}
