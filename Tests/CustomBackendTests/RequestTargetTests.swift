import AssayCore
import AssayKit
import Testing

@testable import AssayCustomBackend

/// The path that routes are chosen by.
@Suite("What a client asked a backend for")
struct RequestTargetTests {
    @Test(
        "a path is read with its escapes decoded and without its query",
        arguments: [
            ("/payments/1", "/payments/1"), ("/payments/1?x=/../y", "/payments/1"), ("/a%62c", "/abc"), ("/", "/"),
            ("/payments/", "/payments/"), ("/a?b#c", "/a"), ("/%C3%A9", "/é"),
        ])
    func clear(_ uri: String, _ path: String) {
        #expect(RequestTarget("post", uri) == .clear(method: "POST", path: Array(path.utf8)))
    }

    @Test(
        "a path that backends read in several ways is nobody's",
        arguments: [
            "/a/../payments", "/a/./b", "//payments", "/a//b", "/a%2Fpayments", "/a%2fb", "/a%5Cb", "/a\\b", "/a;x/b",
            "/a#b", "/a#/../b",
            "/a%3Bx", "/%2e%2e/payments", "/a%", "/a%zz", "/a%00b", "/a b", "/a%20b", "payments", "",
            "http://example.com/payments", "/a%3Fb", "/a%25b", "/é", "/" + String(repeating: "a", count: 8192),
        ])
    func ambiguous(_ uri: String) {
        #expect(RequestTarget("GET", uri) == .ambiguous)
    }

    @Test(
        "what does not decode to valid UTF-8 is nobody's",
        arguments: [
            // Overlong forms of a dot, a slash, a letter and a zero.
            "/%c0%ae", "/x/%c0%ae%c0%ae/bank", "/%c0%afbank", "/%c1%b0ay/1", "/%c0%80", "/%e0%80%ae", "/%e0%81%a1",
            "/%f0%80%80%ae", "/%f0%80%81%a1",
            // Surrogates, beyond Unicode, cut short, without a beginning, never used.
            "/%ed%a0%80", "/%ed%b0%80", "/%f4%90%80%80", "/a%c3", "/a%e2%84", "/%80", "/a%bf/b", "/%fe", "/%ff",
            "/%c3%28",
            // Other notations of characters.
            "/%u0062ank", "/bank%u002e", "/%U0062", "/%x62",
        ])
    func invalid(_ uri: String) {
        #expect(RequestTarget("GET", uri) == .ambiguous)
    }

    @Test(
        "what is escaped twice, a control character, and a separator that is escaped are nobody's",
        arguments: [
            "/%2562ank", "/%25%36%32ank", "/a%252e", "/a%00", "/a%00.json", "/a%0a", "/a%0D", "/a%09", "/a%1f", "/a%7f",
            "/%20a", "/a%20/b", "/a%5c", "/a%5C..%5Cb", "/a%2f", "/%2Fa", "/a%3b", "/a%3Bv=1", "/a;", "/a;v=1/b",
            "/a%23",
            "/a%3F", "/a%", "/a%1", "/a%g0", "/a%0g", "/a%-1", "/a%+1", "/a% 1",
        ])
    func escaped(_ uri: String) {
        #expect(RequestTarget("GET", uri) == .ambiguous)
    }

    @Test(
        "what is no method is nobody's",
        arguments: [
            "", " ", "GE T", "GET ", "G\u{131}T", "GET\u{0}", "\u{212A}", "a:b", String(repeating: "A", count: 33),
        ])
    func method(_ method: String) {
        #expect(RequestTarget(method, "/a") == .ambiguous)
    }

    @Test(
        "a path that some backend takes for another one has other spellings",
        arguments: [
            ("/bank", false), ("/bank/", false), ("/bank.json", false), ("/.well-known/x", false), ("/a/..b", false),
            ("/v1/projects:sign", false), ("/a:1", false), ("/~user/x", false), ("/a$b", false), ("/a~b", false),
            ("/bank.", true), ("/bank./1", true), ("/bank..", true), ("/...", true), ("/bank./", true),
            ("/bank::$DATA", true), ("/bank::$INDEX_ALLOCATION/1", true), ("/bank:$i30:$index_allocation/1", true),
            ("/BANKIN~1", true), ("/x/PAYMEN~2/1", true), ("/ban<", true), ("/ban>", true), ("/bank\"", true),
            ("/a|b", true),
            ("/caf\u{E9}", true), ("/cafe\u{301}", true), ("/ban\u{212A}", true), ("/\u{FF42}ank", true),
            ("/x\u{FF0F}..\u{FF0F}bank", true), ("/\u{2025}/bank", true), ("/ba\u{200B}nk", true),
            ("/bank\u{AD}", true),
        ])
    func spellings(_ path: String, _ hasOthers: Bool) {
        #expect(RequestTarget.hasOtherSpellings(Array(path.utf8)) == hasOthers)
    }
}
