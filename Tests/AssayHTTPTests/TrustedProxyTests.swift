import AssayCore
import AssayKit
import AssayTestSupport
import Testing

@testable import AssayHTTP

private let proxy = "10.0.0.1"

/// Lines of `X-Forwarded-For`, and who the client is.
private let lines: [([String], String)] = [
    ([], proxy), (["192.0.2.1"], "192.0.2.1"), (["198.51.100.1, 192.0.2.1"], "192.0.2.1"),
    (["192.0.2.1, 10.1.1.1"], "192.0.2.1"), (["192.0.2.1,10.1.1.1 ,\t10.2.2.2"], "192.0.2.1"),
    (["1.1.1.1", "192.0.2.1", "10.1.1.1"], "192.0.2.1"), (["10.1.1.1, 10.2.2.2"], "10.1.1.1"),
    (["2001:DB8::0:1"], "2001:db8::1"), (["[2001:db8::1]:443"], "2001:db8::1"), (["[2001:db8::1]"], "2001:db8::1"),
    (["192.0.2.1:5678"], "192.0.2.1"), (["::ffff:192.0.2.1"], "192.0.2.1"),
    (["192.0.2.1, ::ffff:10.1.1.1"], "192.0.2.1"),
    // What is no address ends the search.
    ([""], proxy), ([" , "], proxy), (["192.0.2.1,"], proxy), (["unknown"], proxy), (["_hidden"], proxy),
    (["192.0.2.1, nonsense, 10.1.1.1"], "10.1.1.1"), (["192.0.2.1:"], proxy), (["192.0.2.1:123456"], proxy),
    (["[192.0.2.1"], proxy), (["[2001:db8::1]x"], proxy), (["fe80::1%eth0"], proxy), (["192.0.2.1;1.1.1.1"], proxy),
    ([String(repeating: "1", count: 10_000)], proxy), ([String(repeating: ",", count: 10_000)], proxy),
    (["192.0.2.1, " + Array(repeating: "10.9.9.9", count: 15).joined(separator: ", ")], "192.0.2.1"),
    (["192.0.2.1, " + Array(repeating: "10.9.9.9", count: 16).joined(separator: ", ")], "10.9.9.9"),
]

@Suite("Clients behind proxies", .timeLimit(.minutes(20)))
struct TrustedProxyTests {
    private static var proxies: TrustedProxies {
        TrustedProxies(["10.0.0.0/8", "2001:db8:f::/48"].compactMap { IPRange($0) })
    }

    @Test("the client is the last address that is no proxy's", arguments: lines)
    func client(_ lines: [String], _ expected: String) {
        let headers = HeaderFields(
            lines.map { (name: "X-Forwarded-For", value: $0) } + [(name: "Forwarded", value: "for=9.9.9.9")])
        #expect(Self.proxies.client(headers, behind: proxy) == expected)
    }

    @Test("only proxies that were named are believed")
    func trust() {
        for peer in ["10.0.0.1", "::ffff:10.0.0.1", "2001:db8:f::1"] { #expect(Self.proxies.trust(peer)) }
        for peer in ["11.0.0.1", "127.0.0.1", "2001:db8::1", "", nil] { #expect(!Self.proxies.trust(peer)) }
        #expect(!TrustedProxies([]).trust("10.0.0.1"))
    }

    @Test(
        "calls carry the client's address when the proxy is trusted, and the proxy's otherwise",
        arguments: [true, false])
    func call(isTrusted: Bool) async throws {
        let handler = FakeHandler()
        let request = TestGateway.post(
            "/v1/projects/1/apps/1:2:ios:ab:exchangeDebugToken", "{}",
            headers: "X-Forwarded-For: 9.9.9.9, 192.0.2.1\r\n")
        let proxies = isTrusted ? ["127.0.0.0/8"].compactMap { IPRange($0) } : []
        let reply = try await TestGateway.answer(to: request, handler: handler, proxies: TrustedProxies(proxies))
        #expect(reply.status == 200)
        #expect(handler.calls.map(\.peer) == [isTrusted ? "192.0.2.1" : "127.0.0.1"])
    }

    @Test("who connects through a Unix socket is believed only where that was said")
    func sockets() async throws {
        for includesSockets in [true, false] {
            let handler = FakeHandler()
            let request = TestGateway.post(
                "/v1/projects/1/apps/1:2:ios:ab:exchangeDebugToken", "{}", headers: "X-Forwarded-For: 192.0.2.1\r\n")
            let proxies = TrustedProxies([], includesSockets: includesSockets)
            _ = try await TestGateway.answer(to: request, handler: handler, proxies: proxies, peer: nil)
            #expect(handler.calls.map(\.peer) == [includesSockets ? "192.0.2.1" : nil])
        }
    }
}
