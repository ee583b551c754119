import AssayCore
import AssayYAML
import Testing

struct SpellingTests {
    private static let keys = ["token_ttl", "tokens", "id", "apps", "environment", "bundle_id"]

    @Test(arguments: [
        ("token_tll", "token_ttl"), ("tokne_ttl", "token_ttl"), ("Tokens", "tokens"), ("token", "tokens"),
        ("app", "apps"),
        ("enviroment", "environment"), ("bundleid", "bundle_id"), ("bundleId", "bundle_id"), ("ids", "id"),
    ])
    func `A slip finds the nearest key`(_ name: String, _ meant: String) {
        #expect(Spelling.suggestion(for: name, among: Self.keys) == meant)
    }

    @Test(arguments: ["x", "xy", "providers", "", "secret_reference", String(repeating: "token_ttl", count: 100)])
    func `What is far from all keys suggests none`(_ name: String) {
        #expect(Spelling.suggestion(for: name, among: Self.keys) == nil)
        #expect(
            Spelling.hint(for: name, among: Self.keys)
                == "known here: `apps`, `bundle_id`, `environment`, `id`, `token_ttl`, `tokens`")
    }

    @Test func `A name that several have is listed once`() {
        #expect(Spelling.hint(for: "x", among: ["orders", "bills", "orders"]) == "known here: `bills`, `orders`")
    }

    @Test func `Without candidates there is no hint`() {
        #expect(Spelling.hint(for: "a", among: []) == nil)
    }

    @Test func `Among more names than anybody reads there is no hint`() {
        let names = (0..<1001).map { "name\($0)" }
        #expect(Spelling.hint(for: "nmae7", among: Array(names.dropLast())) == "did you mean `name7`?")
        #expect(Spelling.hint(for: "nmae7", among: names) == nil)
    }
}
