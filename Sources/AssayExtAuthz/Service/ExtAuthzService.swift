public import AssayCore
public import AssayHTTPServer
public import AssayKit
internal import GRPCCore
internal import GRPCNIOTransportHTTP2TransportServices
public import Logging
internal import NIOCore
internal import NIOHTTP2
public import ServiceLifecycle

/// Answers Envoy's question whether a request is allowed (`envoy.service.auth.v3.Authorization/Check`) by a method of a
/// `CallHandler`, over gRPC, together with gRPC's health service.
///
/// On graceful shutdown it accepts no more connections, and lets running calls finish for as long as
/// ``ExtAuthzLimits/drainTime``; then the rest is cancelled.
public struct ExtAuthzService: Service {
    let method: DecidingMethod
    let handler: any CallHandler
    let configuration: ExtAuthzConfiguration
    private let clock: HostClock
    private let logger: Logger
    private let meter: Meter
    private let onListening: @Sendable (ListenerAddress) async -> Void

    /// Makes a service for a handler.
    ///
    /// - `meter`: counts connections.
    /// - `onListening`: called once with the listener's address.
    /// - Throws: ``ExtAuthzError`` unless the handler has exactly one method that accepts a token and declares how a
    ///   proxied request is described to it (`HTTPBinding.proxied`).
    public init(
        handler: any CallHandler, configuration: ExtAuthzConfiguration, clock: HostClock = .system, logger: Logger,
        meter: Meter = .none,
        onListening: @escaping @Sendable (ListenerAddress) async -> Void = { _ in }
    ) throws(ExtAuthzError) {
        method = try DecidingMethod(handler.methods)
        self.handler = handler
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        self.meter = meter
        self.onListening = onListening
    }

    /// How long the connections have to close before the calls that still run are cancelled.
    private static let closingTime: Duration = .seconds(1)

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: `ListenerError` when the address cannot be listened on.
    public func run() async throws {
        let refusals = RefusalLog(logger, noun: "check", limits: configuration.records, clock: clock)
        let connections = OpenConnections(configuration.limits, meter)
        let forwarded = ForwardedCalls()
        let listener = AuthorizationListener(
            configuration: configuration, connections: connections, forwarded: forwarded,
            sharing: LoopSharing.All(priority: Task.currentPriority), logger: logger, onListening: onListening)
        let server = GRPCServer(
            transport: HTTP2ServerTransport.Custom(
                listenerFactory: listener, config: .init(configuration.limits, CallMetrics(meter))),
            services: [
                AuthorizationService(
                    handler: handler, method: method, configuration: configuration, refusals: refusals,
                    forwarded: forwarded),
                HealthService(handler: handler, limits: configuration.limits, clock: clock),
            ])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve(server, connections) }
            group.addTask { await refusals.run() }
            group.addTask {
                try? await gracefulShutdown()
                try? await clock.sleep(for: configuration.limits.drainTime)
                if !Task.isCancelled {
                    logger.warning("checks were still running at the end of the drain time and are cancelled")
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Serves until graceful shutdown; when it is cancelled, until its connections are closed.
    ///
    /// The transport must not be cancelled while a connection or a stream may come: NIO ends the process when one is
    /// dropped that nothing has read (`NIOAsyncWriter`).
    private func serve(_ server: GRPCServer<some ServerTransport>, _ connections: OpenConnections) async throws {
        let serving = Task { try await server.serve() }
        do {
            try await withTaskCancellationHandler {
                try await withGracefulShutdownHandler {
                    try await serving.value
                } onGracefulShutdown: {
                    server.beginGracefulShutdown()
                }
            } onCancel: {
                server.beginGracefulShutdown()
                connections.endAll()
                Task {
                    // Calls that continue although their connection is closed.
                    try await Task.sleep(for: ExtAuthzService.closingTime)
                    serving.cancel()
                }
            }
        } catch let error as RuntimeError {
            // The shutdown came before the start.
            if error.code == .serverIsStopped { return }
            throw error.cause ?? error
        }
    }
}

extension HTTP2ServerTransport.Custom.Config {
    init(_ limits: ExtAuthzLimits, _ metrics: CallMetrics) {
        self = .defaults
        http2.maxConcurrentStreams = limits.streams
        rpc.maxRequestPayloadSize = limits.messageBytes
        connection.maxIdleTime = limits.idleTime
        connection.maxAge = limits.connectionAge
        connection.maxGraceTime = limits.drainTime
        connection.keepalive = HTTP2ServerTransport.Config.Keepalive(
            time: limits.pingTime, timeout: limits.pingTime,
            // Envoy may be configured to check the connection more often than gRPC's clients do.
            clientBehavior: .init(minPingIntervalWithoutCalls: .seconds(1), allowWithoutCalls: true))
        // Proxies wait for each check, so it is sent at once.
        connection.flushCoalescing = nil
        // The only place where the transport lets other code into the pipeline of a stream.
        channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            do {
                guard let parent = stream.parent else { throw ChannelError.ioOnClosedChannel }
                let connection = try parent.pipeline.syncOperations.handler(type: ConnectionGuard.self)
                let number = try stream.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID) ?? .rootStream
                try stream.pipeline.syncOperations.addHandler(
                    CallGuard(connection, limits, stream: Int(number), count: metrics.refused), position: .first)
            } catch {
                // An error would drop the stream while it is open, which ends the process.
                stream.close(promise: nil)
            }
            return stream.eventLoop.makeSucceededVoidFuture()
        }
    }
}
