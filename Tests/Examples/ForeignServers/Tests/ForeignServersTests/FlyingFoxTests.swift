import AssayCore
import AssayHTTP
import AssayKit
import FlyingFox
import Foundation
import Logging
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// All that it takes to mount the gateway in FlyingFox.
struct GatewayHandler: HTTPHandler {
    let gateway: HTTPGateway

    func handleRequest(_ request: FlyingFox.HTTPRequest) async throws -> FlyingFox.HTTPResponse {
        let peer: String? =
            switch request.remoteAddress {
            case .ip4(let address, port: _)?, .ip6(let address, port: _)?: address
            default: nil
            }
        let reply = await gateway.reply(
            to: GatewayRequest(
                method: request.method.rawValue, target: request.target.rawValue,
                headers: HeaderFields(request.headers.map { (name: $0.key.rawValue, value: $0.value) }),
                body: Array(try await request.bodyData)),
            peer: peer)
        var headers = HTTPHeaders()
        for field in reply.headers { headers[HTTPHeader(field.name)] = field.value }
        return HTTPResponse(
            statusCode: HTTPStatusCode(reply.status.code, phrase: ""), headers: headers, body: Data(reply.body))
    }
}

/// A kernel that repeats what it was asked.
struct EchoHandler: CallHandler {
    let methods = [
        MethodDescriptor(name: "exchangeDebugToken", kind: .exchange(.alone), resources: [.app]),
        MethodDescriptor(name: "jwks", kind: .keySet, resources: []),
    ]
    let readiness = Readiness.ready

    func handle(_ call: Call) async -> Reply {
        Reply(
            decision: DecisionID(text: "01DECISION"),
            result: .success([
                "method": .string(call.method), "resource": .string(call.resource), "body": call.body,
                "peer": .string(call.peer ?? ""),
            ]))
    }
}

@Suite("The gateway in FlyingFox", .timeLimit(.minutes(5)))
struct FlyingFoxTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func serve(_ body: (URL) async throws -> Void) async throws {
        let gateway = try HTTPGateway(handler: EchoHandler(), logger: Self.logger)
        let server = HTTPServer(
            address: try .inet(ip4: "127.0.0.1", port: 0), handler: GatewayHandler(gateway: gateway))
        let running = Task { try await server.run() }
        defer { running.cancel() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port) = await server.listeningAddress else {
            Issue.record("the server listens at no address of IPv4")
            return
        }
        try await body(try #require(URL(string: "http://127.0.0.1:\(port)")))
        await server.stop()
    }

    @Test("a method is called with its resource, its body and its peer")
    func call() async throws {
        try await serve { base in
            var request = URLRequest(
                url: base.appendingPathComponent("v1/projects/1/apps/1:2:ios:ab:exchangeDebugToken"))
            request.httpMethod = "POST"
            request.httpBody = Data(#"{"debug_token":"a"}"#.utf8)
            let (data, response) = try await URLSession.shared.data(for: request)
            let reply = try #require(response as? HTTPURLResponse)
            #expect(reply.statusCode == 200)
            #expect(reply.value(forHTTPHeaderField: "x-assay-decision") == "01DECISION")
            let expected: JSON = [
                "method": "exchangeDebugToken", "resource": "projects/1/apps/1:2:ios:ab",
                "body": ["debug_token": "a"], "peer": "127.0.0.1",
            ]
            #expect(try JSON.parse(Array(data)) == expected)
        }
    }

    @Test("pages, browsers and errors are as on our own server")
    func rest() async throws {
        try await serve { base in
            for (path, status) in [("livez", 200), ("readyz", 200), ("v1/jwks", 200), ("v1/nothing", 404)] {
                var request = URLRequest(url: base.appendingPathComponent(path))
                request.setValue("https://app.example.com", forHTTPHeaderField: "Origin")
                let (data, response) = try await URLSession.shared.data(for: request)
                let reply = try #require(response as? HTTPURLResponse)
                #expect(reply.statusCode == status)
                #expect(reply.value(forHTTPHeaderField: "content-type") == "application/json; charset=UTF-8")
                if path == "v1/jwks" { #expect(reply.value(forHTTPHeaderField: "access-control-allow-origin") == "*") }
                if status == 404 { #expect(try JSON.parse(Array(data))["error"]?["status"] == "NOT_FOUND") }
            }
        }
    }
}
