import AssayCore
import AssayExtAuthz
import AssayHTTPServer
import AssayKit
import Logging
import NIOSSL
import ServiceLifecycle

/// A server of ext_authz on this machine.
struct ExtAuthzServer {
    let address: ListenerAddress
    let services: ServiceGroup

    static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Serves for as long as `body` runs.
    @discardableResult
    static func with<Result: Sendable>(
        _ handler: ScriptedHandler = ScriptedHandler(),
        address: ListenerAddress = .host("127.0.0.1", port: 0), certificate: ServerCertificate? = nil,
        forwardsToken: Bool = false, clock: HostClock = .system, logger: Logger = logger, meter: Meter = .none,
        budget: TransportBudget = TransportBudget(),
        limits change: (inout ExtAuthzLimits) -> Void = { _ in },
        _ body: @escaping @Sendable (ExtAuthzServer) async throws -> Result
    ) async throws -> Result {
        var limits = ExtAuthzLimits()
        // The tests of a busy machine may be slow.
        limits.openingTime = .seconds(120)
        limits.receiveTime = .seconds(120)
        change(&limits)
        let (addresses, continuation) = AsyncStream.makeStream(of: ListenerAddress.self)
        let service = try ExtAuthzService(
            handler: handler,
            configuration: ExtAuthzConfiguration(
                address: address, certificate: certificate, forwardsToken: forwardsToken, limits: limits,
                budget: budget),
            clock: clock, logger: logger, meter: meter
        ) {
            continuation.yield($0)
            continuation.finish()
        }
        let services = ServiceGroup(services: [service], logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { continuation.finish() }
                try await services.run()
            }
            guard let address = await addresses.first(where: { _ in true }) else {
                try await group.next()
                throw CancellationError()
            }
            let result = try await body(ExtAuthzServer(address: address, services: services))
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            return result
        }
    }

    /// Calls by a client of its own.
    ///
    /// - Parameter address: that of the client, if it is not to be the server's.
    func withClient<Result: Sendable>(
        _ tls: NIOSSLContext? = nil, from address: String? = nil, _ body: (GRPCClient) async throws -> Result
    ) async throws -> Result {
        try await GRPCClient.with(self, tls: tls, from: address, body)
    }

    /// The port; nil on a Unix socket.
    var port: Int? { address.port }
}
