import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import Logging

/// A gateway that is called with no server at all: what a server would have read and sent is made here.
enum TestGateway {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Gives the reply to a request in the form of HTTP/1.1, with a body that ends where the text does.
    static func answer(
        to text: String, handler: FakeHandler = FakeHandler(), logger: Logger = Self.logger,
        pages: HTTPPages = .health, meter: Meter = .none, origins: AllowedOrigins = .any,
        proxies: TrustedProxies = .none, peer: String? = "127.0.0.1"
    ) async throws -> RawReply {
        let gateway = try HTTPGateway(
            handler: handler, pages: pages,
            configuration: HTTPGateway.Configuration(origins: origins, trustedProxies: proxies), logger: logger,
            meter: meter)
        let request = request(text)
        let reply = await gateway.reply(to: request, peer: peer)
        var headers = reply.headers.map { ($0.name.lowercased(), $0.value) }
        if reply.status.code != 204, reply.status.code != 304 {
            headers.append(("content-length", "\(reply.body.count)"))
        }
        return RawReply(
            status: reply.status.code, headers: headers.map { (name: $0.0, value: $0.1) },
            body: request.method == "HEAD" ? [] : reply.body)
    }

    private static func request(_ text: String) -> GatewayRequest {
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n", omittingEmptySubsequences: false)
        let start = lines[0].split(separator: " ")
        let headers = lines.dropFirst().map { line in
            let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(field[0]), value: String(field[1].drop { $0 == " " }))
        }
        return GatewayRequest(
            method: String(start[0]), target: String(start[1]), headers: HeaderFields(headers),
            body: parts.count == 2 ? Array(parts[1].utf8) : [])
    }

    /// A request with a body of a known length.
    static func post(_ target: String, _ body: String = "", headers: String = "") -> String {
        "POST \(target) HTTP/1.1\r\nHost: a\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func get(_ target: String, headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n"
    }
}
