public import AssayCore
public import AssayHTTP
public import AssayKit
public import Logging
internal import NIOCore
internal import NIOExtras
internal import NIOPosix
public import ServiceLifecycle

/// Serves the methods of a `CallHandler` over HTTP/1.1 and, with TLS, HTTP/2, together with pages for operators.
///
/// On graceful shutdown it accepts no more connections, closes the idle ones, and lets running requests finish for as
/// long as ``HTTPLimits/drainTime``; then the rest is cancelled.
public struct HTTPService: Service {
    let configuration: HTTPConfiguration
    let gateway: HTTPGateway
    let logger: Logger
    let metrics: ConnectionMetrics
    private let threads: ConnectionThreads
    private let onListening: @Sendable (ListenerAddress) async -> Void

    /// Makes a server for a handler.
    ///
    /// - `pages`: the pages that are served in addition to the handler's methods.
    /// - `meter`: counts connections and refused requests.
    /// - `onListening`: called once with the listener's address; its port is the real one if port 0 was requested.
    /// - Throws: `HTTPGatewayError` when the handler's methods cannot be routed.
    public init(
        handler: any CallHandler, pages: HTTPPages = .health, configuration: HTTPConfiguration, logger: Logger,
        meter: Meter = .none, onListening: @escaping @Sendable (ListenerAddress) async -> Void = { _ in }
    ) throws(HTTPGatewayError) {
        gateway = try HTTPGateway(
            handler: handler, pages: pages, configuration: configuration.gateway, logger: logger, meter: meter)
        metrics = ConnectionMetrics(meter)
        threads = ConnectionThreads(longestWait: configuration.limits.longestWait)
        self.configuration = configuration
        self.logger = logger
        self.onListening = onListening
    }

    /// Serves until graceful shutdown or cancellation.
    ///
    /// - Throws: `ListenerError` when the address cannot be listened on.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve() }
            group.addTask {
                try? await gracefulShutdown()
                try? await Task.sleep(for: configuration.limits.drainTime)
                if !Task.isCancelled {
                    logger.warning("requests were still running at the end of the drain time and are cancelled")
                }
            }
            group.addTask { await gateway.run() }
            if configuration.limits.longestWait != nil { group.addTask { await reportRefusals() } }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func serve() async throws {
        let limits = configuration.limits
        let clock = ReplyDate(.system)
        let group = MultiThreadedEventLoopGroup.singleton
        let admission = ConnectionAdmission(
            most: mostConnections, grace: limits.graceTime, eventLoop: group.any())
        let connections = HTTPConnections(
            gateway: gateway, clock: clock, limits: limits, admission: admission,
            requests: RequestAdmission(gateway: gateway, clock: clock), threads: threads,
            metrics: metrics,
            budget: configuration.budget, certificate: configuration.certificate)
        let quiescing = ServerQuiescingHelper(group: group)
        let (listening, address) = try await ServerBootstrap(group: group)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { [logger, metrics] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        AcceptPause(logger: logger) { metrics.acceptFailed() }, ConnectionGate(admission),
                        quiescing.makeServerChannelHandler(channel: channel),
                    ])
                }
            }
            .listen(at: configuration.address, backlog: limits.backlog, setUp: connections.setUp)
        await withGracefulShutdownHandler {
            await onListening(address)
            await withDiscardingTaskGroup { group in
                do {
                    try await listening.executeThenClose { inbound in
                        for try await connection in inbound {
                            let executor = threads.executor(of: connection.channel)
                            group.addTask(executorPreference: executor) {
                                await connections.serve(connection, on: executor, logger: logger)
                            }
                        }
                    }
                } catch  where error is CancellationError {
                    // Another part of the server has failed, and its error ends the process.
                } catch {
                    logger.error("no more connections are accepted", metadata: ["error": "\(error)"])
                }
            }
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
    }

    /// Counts and logs, until the task is cancelled, how many requests were refused because the server could not keep up.
    private func reportRefusals() async {
        var counted = 0
        while (try? await Task.sleep(for: .seconds(10))) != nil {
            let refused = threads.refused
            guard refused > counted else { continue }
            logger.warning(
                "requests arrived faster than they could be answered",
                metadata: ["refused": "\(refused - counted)", "seconds": "10"])
            counted = refused
        }
    }

    /// The most connections that the limit on open files and the budget leave room for.
    private var mostConnections: Int {
        let wanted = configuration.limits.maximumConnections
        let files = OpenFileLimit.connections
        // Idle connections may not use the whole budget: a part is for requests.
        let cost = Reservation.Cost.connection(isSecure: configuration.certificate != nil)
        let most = max(1, min(wanted, files, configuration.budget.byteLimit / 4 * 3 / cost))
        if most < min(wanted, files) {
            logger.info(
                "at most \(most) connections are open at once, not the \(wanted) of --max-connections: the memory of --max-transport-bytes is not enough for more",
                metadata: ["connections": "\(most)", "wanted": "\(wanted)"])
        }
        if files < wanted {
            logger.warning(
                "at most \(files) connections are open at once, not the \(wanted) of --max-connections: the system lets this process open \(OpenFileLimit.current ?? 0) files; raise that with LimitNOFILE= of systemd, or with `ulimit -n` before the start",
                metadata: ["connections": "\(files)", "wanted": "\(wanted)"])
        }
        return most
    }
}

/// The metrics of the server.
package struct ConnectionMetrics: Sendable {
    /// All metrics that the server records.
    package static let all = [connections, accepted, acceptFailures, unreadReplies]

    private static let connections = Metric.gauge("http_connections", "HTTP connections that are open.")
    private static let accepted = Metric.counter("http_connections_accepted_total", "HTTP connections accepted.")
    private static let acceptFailures = Metric.counter(
        "http_accept_failures_total", "Failures to accept a connection, mostly because of missing file descriptors.")
    private static let unreadReplies = Metric.counter(
        "http_unread_replies_dropped_total",
        "Replies that were given up because clients did not read them and others needed the room.")

    private let meter: Meter

    init(_ meter: Meter) {
        self.meter = meter
        meter.set(0, of: ConnectionMetrics.connections)
        meter.add(0, to: ConnectionMetrics.accepted)
        meter.add(0, to: ConnectionMetrics.acceptFailures)
        meter.add(0, to: ConnectionMetrics.unreadReplies)
    }

    func opened() {
        meter.add(to: ConnectionMetrics.connections)
        meter.add(to: ConnectionMetrics.accepted)
    }

    func closed() {
        meter.add(-1, to: ConnectionMetrics.connections)
    }

    func gaveUpReply() {
        meter.add(to: ConnectionMetrics.unreadReplies)
    }

    func acceptFailed() {
        meter.add(to: ConnectionMetrics.acceptFailures)
    }
}
