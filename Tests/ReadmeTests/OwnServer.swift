import AssayEngine
import AssayHTTP
import HTTPTypes
import Hummingbird
import Logging
import NIOCore

struct OwnContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let peer: String?

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress?.ipAddress
    }
}

/// Lets an engine answer the requests of App Check's API, and the router all others.
struct AppCheckService: RouterMiddleware {
    let gateway: HTTPGateway

    func handle(
        _ request: Request, context: OwnContext, next: (Request, OwnContext) async throws -> Response
    ) async throws -> Response {
        guard request.uri.path.hasPrefix("/v1") else { return try await next(request, context) }
        let body = try await request.body.collect(upTo: HTTPGateway.Configuration.defaultBodyBytes)
        let reply = await gateway.reply(
            to: GatewayRequest(
                method: request.method.rawValue, target: request.head.path ?? "/",
                headers: HeaderFields(request.headers.map { ($0.name.rawName, $0.value) }), body: Array(buffer: body)),
            peer: context.peer)
        var headers = HTTPFields()
        for (name, value) in reply.headers {
            if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
        }
        return Response(
            status: .init(code: reply.status.code), headers: headers,
            body: .init(byteBuffer: ByteBuffer(bytes: reply.body)))
    }
}

func ownRouter(_ engine: Engine, _ logger: Logger) throws -> Router<OwnContext> {
    let router = Router(context: OwnContext.self)
    router.add(middleware: AppCheckService(gateway: try HTTPGateway(handler: engine, logger: logger)))
    router.get("/hello") { request, context in "hello" }
    return router
}
