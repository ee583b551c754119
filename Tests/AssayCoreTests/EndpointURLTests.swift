import AssayCore
import AssayKit
import Testing

@Suite("URLs of other servers")
struct EndpointURLTests {
    struct Good: Sendable {
        let text: String
        let host: String
        let port: Int
        let path: String
        var query: String?
    }

    @Test(
        "What may be called is taken apart",
        arguments: [
            Good(text: "https://data.appattest.apple.com", host: "data.appattest.apple.com", port: 443, path: ""),
            Good(text: "https://example.com:8443/a/b", host: "example.com", port: 8443, path: "/a/b"),
            Good(text: "https://example.com?x=1", host: "example.com", port: 443, path: "", query: "x=1"),
            Good(text: "https://example.com/keys?a=b?c", host: "example.com", port: 443, path: "/keys", query: "a=b?c"),
            Good(text: "https://[2001:db8::1]:1/", host: "2001:db8::1", port: 1, path: "/"),
            Good(text: "http://localhost:80/x", host: "localhost", port: 80, path: "/x"),
            Good(text: "http://127.0.0.1", host: "127.0.0.1", port: 80, path: ""),
            Good(text: "http://[::1]:65535", host: "::1", port: 65_535, path: ""),
        ])
    func good(_ good: Good) throws {
        let url = try #require(EndpointURL(good.text))
        #expect(url.text == good.text)
        #expect(url.isSecure == good.text.hasPrefix("https:"))
        #expect(url.host == good.host)
        #expect(url.port == good.port)
        #expect(url.path == good.path)
        #expect(url.query == good.query)
    }

    @Test(
        "What must not be called is no URL",
        arguments: [
            "", "https://", "https:///x", "https://:443", "example.com", "ftp://example.com", "HTTPS://example.com",
            "http://example.com", "http://127.0.0.2", "http://localhost.example.com", "https://user@example.com",
            "https://user:secret@example.com/", "https://example.com/#x", "https://example.com/ x",
            "https://example.com/\u{e9}", "https://ex\u{430}mple.com", "https://example.com:0", "https://example.com:",
            "https://example.com:65536", "https://example.com:+1", "https://example.com:443:443", "https://[::1",
            "https://[example]", "https://[::1]x", "https://-example.com", "https://exa mple.com",
            "https://example.com\\@evil", "https://\(String(repeating: "a", count: 254))",
            "https://example.com/\(String(repeating: "a", count: 2048))", "https://example.com/\r\nHost: x",
        ])
    func bad(_ text: String) {
        #expect(EndpointURL(text) == nil)
    }

    @Test("A path is put behind a base, with or without a slash between them, and not behind a query")
    func appending() {
        #expect(EndpointURL("https://example.com")?.appending("/v1/x")?.text == "https://example.com/v1/x")
        #expect(EndpointURL("https://example.com/a/")?.appending("/v1/x")?.text == "https://example.com/a/v1/x")
        #expect(EndpointURL("https://example.com?x")?.appending("/v1/x") == nil)
        #expect(EndpointURL("https://example.com")?.appending("v1") == nil)
        #expect(EndpointURL("https://example.com")?.appending("/v1 x") == nil)
    }

    @Test(
        "This machine is known in any spelling that resolves to it",
        arguments: [
            "localhost", "LocalHost", "localhost.", "a.localhost", "localhost.localdomain", "ip6-localhost",
            "127.0.0.1",
            "127.1.2.3", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7F.1", "0177.0.0.1", "017700000001", "0",
            "0.0.0.0", "127.0.0.1.", "169.254.1.1", "0xa9fe0101", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[::ffff:0.0.0.0]", "[fe80::1]", "[FEBF::1]",
            "host.docker.internal", "host.containers.internal",
        ])
    func local(_ host: String) throws {
        #expect(try #require(EndpointURL("https://\(host):8443/v1")).isOnThisMachine)
    }

    @Test(
        "Other machines are not taken for this one",
        arguments: [
            "api.devicecheck.apple.com", "localhost.example.com", "notlocalhost", "local.host", "128.0.0.1", "10.0.0.1",
            "126.255.255.255", "192.168.0.1", "169.253.255.255", "1.2.3.4.5", "0x80000000", "08.example",
            "256.256.256.256",
            "[2001:db8::1]", "[fec0::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "127.example.com",
            "0xg",
        ])
    func distant(_ host: String) throws {
        #expect(try !#require(EndpointURL("https://\(host)/")).isOnThisMachine)
    }
}
