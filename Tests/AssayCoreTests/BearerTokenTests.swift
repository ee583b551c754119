import AssayCore
import Testing

@Suite("Bearer tokens")
struct BearerTokenTests {
    @Test(
        "A token has the characters of RFC 6750 and no others",
        arguments: ["", " ", "a b", "a\n", "a\0", "a,b", "a:b", "\"a\"", "é", "a\u{301}", "a%20"])
    func refused(_ text: String) {
        #expect(BearerToken(text) == nil)
    }

    @Test("All characters of RFC 6750 are taken as they are")
    func accepted() {
        let text = "AZaz09-._~+/=="
        #expect(BearerToken(text)?.text.isExactly(text) == true)
    }

    @Test("A token is looked at up to 16 KiB")
    func limit() {
        #expect(BearerToken(String(repeating: "a", count: 16_384)) != nil)
        #expect(BearerToken(String(repeating: "a", count: 16_385)) == nil)
    }

    @Test("Neither a description nor what holds a token shows it")
    func hidden() throws {
        let token = try #require(BearerToken("hunter2"))
        for text in ["\(token)", String(reflecting: token), "\([token])", "\(Optional(token) as Any)"] {
            #expect(!text.contains("hunter2"))
        }
    }
}
