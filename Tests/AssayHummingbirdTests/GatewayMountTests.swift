import AssayCore
import AssayHTTP
import AssayKit
import AssayTestSupport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Testing

/// All that it takes to mount the gateway in Hummingbird: under its paths every request is the gateway's.
private struct GatewayMiddleware<Context: RequestContext>: RouterMiddleware {
    let gateway: HTTPGateway

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        guard request.uri.path.hasPrefix("/v1") else { return try await next(request, context) }
        let body = try await request.body.collect(upTo: 65_536)
        let reply = await gateway.reply(
            to: GatewayRequest(
                method: request.method.rawValue, target: request.uri.string,
                headers: HeaderFields(request.headers.map { (name: $0.name.rawName, value: $0.value) }),
                body: Array(body.readableBytesView)),
            peer: nil)
        var headers = HTTPFields()
        for field in reply.headers {
            if let name = HTTPField.Name(field.name) { headers.append(HTTPField(name: name, value: field.value)) }
        }
        return Response(
            status: .init(code: reply.status.code), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}

@Suite("The gateway in Hummingbird's router", .timeLimit(.minutes(20)))
struct GatewayMountTests {
    @Test("its methods stand beside the application's own routes", arguments: [TestingSetup.router, .live])
    func mounted(setup: TestingSetup) async throws {
        let handler = FakeHandler()
        let router = Router()
        let gateway = try HTTPGateway(
            handler: handler, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        router.add(middleware: GatewayMiddleware(gateway: gateway))
        router.get("/orders") { _, _ in "mine" }
        try await Application(router: router).test(setup) { client in
            let own = try await client.execute(uri: "/orders", method: .get)
            #expect(String(buffer: own.body) == "mine")
            let reply = try await client.execute(
                uri: "/v1/projects/1/apps/1%3A2:ios:ab:exchangeDebugToken?alt=json", method: .post,
                body: ByteBuffer(string: #"{"debug_token":"a"}"#))
            #expect(reply.status == .ok)
            let call = try #require(handler.calls.first)
            #expect(call.resource == "projects/1/apps/1:2:ios:ab")
            #expect(try JSON.parse(Array(reply.body.readableBytesView)) == FakeHandler.echo(call))
            let unknown = try await client.execute(uri: "/v1/nothing", method: .get)
            #expect(unknown.status == .notFound)
            let error = try JSON.parse(Array(unknown.body.readableBytesView))["error"]
            #expect(error?["status"] == "NOT_FOUND")
            #expect(error?["code"] == 404)
        }
    }
}
