public import AssayKit
internal import HummingbirdCore
public import Logging
internal import NIOCore
internal import NIOPosix
public import ServiceLifecycle
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Serves the methods of a ``CallHandler`` over HTTP/1.1 and, where there is TLS, HTTP/2, and pages for operators beside
/// them.
///
/// On graceful shutdown it takes no more connections, closes the idle ones, and lets requests that have begun finish
/// for as long as ``HTTPLimits/drainTime``; then the rest is cancelled.
public struct HTTPService: Service {
    let configuration: HTTPConfiguration
    let responder: RequestResponder
    let logger: Logger
    let metrics: HTTPMetrics
    private let onListening: @Sendable (_ host: String, _ port: Int) async -> Void

    /// - Parameters:
    ///   - pages: what is served beside the handler's methods.
    ///   - meter: where connections and refused requests are counted.
    ///   - onListening: called once with the address and port that are listened on.
    /// - Throws: ``HTTPServiceError`` when the handler's methods cannot be routed.
    public init(
        handler: any CallHandler, pages: HTTPPages = .health, configuration: HTTPConfiguration, logger: Logger,
        meter: Meter = .none, onListening: @escaping @Sendable (_ host: String, _ port: Int) async -> Void = { _, _ in }
    ) throws(HTTPServiceError) {
        let table = try RouteTable(methods: handler.methods, pages: pages)
        let limits = configuration.limits
        let metrics = HTTPMetrics(meter)
        self.responder = RequestResponder(
            handler: handler, table: table, pages: pages, access: BrowserAccess(origins: configuration.origins),
            bodyLimit: limits.bodyBytes, clock: HTTPClock(.system),
            refusals: RefusalLog(logger, limits: configuration.records), metrics: metrics)
        self.configuration = configuration
        self.logger = logger
        self.metrics = metrics
        self.onListening = onListening
    }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: ``HTTPServiceError`` when the address cannot be listened on.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve() }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: configuration.limits.drainTime)
                if !Task.isCancelled {
                    logger.warning("requests were still running at the end of the drain time, and are cancelled")
                }
            }
            group.addTask { await responder.refusals.run() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func serve() async throws {
        let host = configuration.host
        let limits = configuration.limits
        let isListening = Atomic(false)
        let files = OpenFileLimit.connections
        // Connections that are only kept may not take all of the budget: a part is for requests.
        let cost = Reservation.Cost.connection(isSecure: configuration.certificate != nil)
        let most = max(1, min(limits.maximumConnections, files, configuration.budget.byteLimit / 4 * 3 / cost))
        if most < min(limits.maximumConnections, files) {
            logger.info(
                "the budget of bytes leaves room for few connections",
                metadata: ["connections": "\(most)", "wanted": "\(limits.maximumConnections)"])
        }
        if files < limits.maximumConnections {
            logger.warning(
                "the limit on open files leaves room for few connections",
                metadata: ["connections": "\(files)", "wanted": "\(limits.maximumConnections)"])
        }
        let group = MultiThreadedEventLoopGroup.singleton
        let slots = ConnectionSlots(most: most, grace: limits.graceTime, eventLoop: group.any())
        let server = Server(
            childChannelSetup: HTTPConnections(
                responder: responder, limits: limits, slots: slots, metrics: metrics,
                budget: configuration.budget, certificate: configuration.certificate,
                proxies: TrustedProxies(configuration.trustedProxies)),
            configuration: ServerConfiguration(
                address: .hostname(host, port: configuration.port), backlog: limits.backlog,
                availableConnectionsDelegate: ConnectionGate(slots: slots)),
            onServerRunning: { channel in
                try? await channel.eventLoop.submit {
                    let pause = AcceptPause(logger: logger) { metrics.acceptFailed() }
                    try channel.pipeline.syncOperations.addHandler(pause, position: .first)
                }.get()
                isListening.store(true, ordering: .relaxed)
                let address = channel.localAddress
                await onListening(address?.ipAddress ?? host, address?.port ?? configuration.port)
            },
            eventLoopGroup: group, logger: logger)
        do {
            try await server.run()
        } catch {
            if isListening.load(ordering: .relaxed) || error is CancellationError { throw error }
            let cause = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw HTTPServiceError(.cannotListen, "cannot listen on \(host), port \(configuration.port): \(cause)")
        }
    }
}
