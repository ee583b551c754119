import AssayCore
import Testing

@Suite("Numbers with nouns")
struct CountingTests {
    @Test(
        "One thing is in the singular, every other number in the plural",
        arguments: [
            (0, "0 records"), (1, "1 record"), (2, "2 records"), (-1, "-1 records"), (11, "11 records"),
        ])
    func nouns(_ count: Int, _ words: String) {
        #expect(count.counting("record") == words)
        #expect(Int64(count).counting("record") == words)
    }

    @Test("Other plurals, and verbs, are as they are said")
    func plurals() {
        #expect(1.counting("entry", "entries") == "1 entry")
        #expect(2.counting("entry", "entries") == "2 entries")
        #expect(
            [1, 3].map { $0.counting("was passed over", "were passed over") } == [
                "1 was passed over", "3 were passed over",
            ])
    }
}
