import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import Logging
import ServiceLifecycle

/// A server on a free port of this machine.
enum TestServer {
    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Serves for as long as `body` runs.
    @discardableResult
    static func with<Result: Sendable>(
        _ handler: any CallHandler = FakeHandler(), limits: HTTPLimits = .patient, logger: Logger = Self.logger,
        pages: HTTPPages = .health, meter: Meter = .none, origins: AllowedOrigins = .any,
        certificate: ServerCertificate? = nil, budget: TransportBudget = TransportBudget(),
        proxies: [IPRange] = [],
        _ body: @escaping @Sendable (_ port: Int, _ group: ServiceGroup) async throws -> Result
    ) async throws -> Result {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let service = try HTTPService(
            handler: handler, pages: pages,
            configuration: HTTPConfiguration(
                address: .host("127.0.0.1", port: 0), limits: limits, origins: origins, certificate: certificate,
                budget: budget,
                trustedProxies: TrustedProxies(proxies)),
            logger: logger, meter: meter,
            onListening: { address in
                continuation.yield(address.port ?? 0)
                continuation.finish()
            })
        let services = ServiceGroup(services: [service], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            defer { group.cancelAll() }
            guard let port = await ports.first(where: { _ in true }) else {
                try await group.next()
                throw RawConnection.Ended()
            }
            return try await body(port, services)
        }
    }

    /// Sends one request on a connection of its own, and gives the reply.
    static func answer(
        to request: String, handler: FakeHandler = FakeHandler(), limits: HTTPLimits = .patient,
        logger: Logger = Self.logger, pages: HTTPPages = .health, meter: Meter = .none,
        origins: AllowedOrigins = .any
    ) async throws -> RawReply {
        try await with(handler, limits: limits, logger: logger, pages: pages, meter: meter, origins: origins) {
            port, _ in
            try await RawConnection.with(port: port) { connection in
                try await connection.send(request)
                return try await connection.reply(hasBody: !request.hasPrefix("HEAD"))
            }
        }
    }

    /// A request with a body of a known length.
    static func post(_ target: String, _ body: String = "", headers: String = "") -> String {
        "POST \(target) HTTP/1.1\r\nHost: a\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    static func get(_ target: String, headers: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(headers)\r\n"
    }
}
