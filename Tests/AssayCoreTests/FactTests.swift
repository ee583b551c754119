import AssayCore
import Testing

@Suite("Facts")
struct FactTests {
    private static let key = FactName("badge_key", .digest)
    private static let level = FactName("level", .words(["low", "high"]))

    @Test(
        "A checked fact has a value of the type of its name",
        arguments: [
            (key, .text("0123456789abcdef"), true), (key, .text("x"), false), (key, .integer(1), false),
            (level, .text("low"), true), (level, .text("Low"), false), (FactName("n", .integer), .integer(1), true),
            (FactName("n", .integer), .text("1"), false), ("note", .text(String(repeating: "x", count: 1024)), true),
            ("note", .text(String(repeating: "x", count: 1025)), false), (FactName("v", .version), .text("1.2"), true),
            (FactName("v", .version), .text("1."), false),
        ] as [(FactName, Fact.Value, Bool)])
    func checked(_ name: FactName, _ value: Fact.Value, _ isFact: Bool) {
        let fact = Fact(checking: name, value)
        #expect(fact == (isFact ? Fact(name, value) : nil))
    }
}
