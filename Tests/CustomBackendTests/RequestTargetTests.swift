import AssayKit
import Testing

@testable import CustomBackend

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

    @Test("without a method nothing is clear")
    func method() {
        #expect(RequestTarget("", "/a") == .ambiguous)
    }
}
