import AssayCore
import AssayKit
import AssayOAuthClient
import Testing

@Suite("Targets of requests")
struct TargetURITests {
    @Test("all spellings of a URI are one target", arguments: spellings)
    func spelling(uri: String, expected: String) {
        #expect(TargetURI(ofRequest: uri)?.text == expected)
    }

    @Test("what is no URI of a request has no target", arguments: others)
    func other(uri: String) {
        #expect(TargetURI(ofRequest: uri) == nil)
    }
}

private let spellings = [
    ("https://login.example.com/token", "https://login.example.com/token"),
    ("HTTPS://Login.Example.COM:443/token", "https://login.example.com/token"),
    ("http://localhost:80/token", "http://localhost/token"),
    ("http://localhost:8080/token", "http://localhost:8080/token"),
    ("https://login.example.com:/token", "https://login.example.com/token"),
    ("https://login.example.com", "https://login.example.com/"),
    ("https://login.example.com?x=1", "https://login.example.com/"),
    ("https://login.example.com/token?x=1#y", "https://login.example.com/token"),
    ("https://login.example.com/token#y?x", "https://login.example.com/token"),
    ("https://login.example.com/a/./b/../token", "https://login.example.com/a/token"),
    ("https://login.example.com/../../token", "https://login.example.com/token"),
    ("https://login.example.com/a/..", "https://login.example.com/"),
    ("https://login.example.com/a/.", "https://login.example.com/a/"),
    ("https://login.example.com/a//b/", "https://login.example.com/a//b/"),
    ("https://login.example.com/%74oken", "https://login.example.com/token"),
    ("https://login.example.com/a%2fb%c3%a4", "https://login.example.com/a%2Fb%C3%A4"),
    ("https://login.example.com/%2E%2e/token", "https://login.example.com/token"),
    ("https://[2001:DB8::1]:8443/token", "https://[2001:db8::1]:8443/token"),
]

private let others = [
    "", "/token", "login.example.com/token", "https:/login.example.com", "https:login.example.com", "https://",
    "https:///token", "ftp://login.example.com/token", "https://user@login.example.com/token",
    "https://login.example.com:port/token", "https://login.example.com:123456/token", "https://[::1/token",
    "https://login.example.com/%zz", "https://login.example.com/%4", "https://login.example.com/\u{E4}",
    "https://login.example.com/a b", "https://login%2eexample.com/token",
    "https://login.example.com/" + String(repeating: "a", count: 8192),
]
