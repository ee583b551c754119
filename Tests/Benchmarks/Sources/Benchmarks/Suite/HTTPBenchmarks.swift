internal import AssayCore
internal import AssayCrypto
internal import AssayEngine
internal import AssayHTTPServer
internal import AssayKit
internal import Glibc
internal import SwiftOverlayShims
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle
internal import Synchronization

/// Whole requests over loopback, from a load generator in the same process, beside Hummingbird's empty reply to the
/// same requests.
enum HTTPBenchmarks {
    static let all = [
        Benchmark(names: ["http.debug-exchange"], run: debugExchange),
        Benchmark(names: ["http.assertion-exchange"], run: assertionExchange),
        Benchmark(names: ["http.assertion-exchange.cpu"], run: assertionExchangeCPU),
        Benchmark(names: ["http.verify", "http.verify.decision"], run: verify),
    ]

    private static let connections = 32
    /// All connections have a request on the way at any time, which is no overload here.
    private static var configuration: HTTPConfiguration {
        var configuration = HTTPConfiguration(address: .host("127.0.0.1", port: 0))
        configuration.limits.queueTime = nil
        return configuration
    }
    private static let slice = Duration.milliseconds(250)
    /// How many assertions a connection has for one slice: more than it can send in that time.
    private static let assertionsEach = 120

    /// A debug exchange: the same request again and again.
    private static func debugExchange(for time: Duration) async throws -> [ReportLine] {
        let requests = PreparedRequests(
            repeating: "exchangeDebugToken", of: DebugService.resource, DebugService.body, on: connections)
        return [
            try await line("http.debug-exchange", DebugService().engine, for: time) { requests }
        ]
    }

    /// An assertion exchange: the challenge redeemed, the artifact opened, the signature verified, the counter raised,
    /// the token signed.
    ///
    /// No request is good for two times. Before each slice the engine hands out challenges in the process, and devices
    /// sign them, one device a connection, because a counter must come in the order in which it grows; only then the
    /// slice is measured. It ends early when a connection has no assertion left, and the rate is that of the time that
    /// passed. The peer gets the same requests, before they are used up.
    private static func assertionExchange(for time: Duration) async throws -> [ReportLine] {
        let service = try await AssertionService(devices: connections)
        return [
            try await line("http.assertion-exchange", service.engine, for: time) {
                try await service.requests(each: assertionsEach)
            }
        ]
    }

    /// What an assertion exchange takes of the processors on all threads of the server, beside the signature that it verifies
    /// and the one that it makes.
    ///
    /// The time of the process without that of the generator's thread, divided by the replies.
    private static func assertionExchangeCPU(for time: Duration) async throws -> [ReportLine] {
        let service = try await AssertionService(devices: connections)
        let key = try PrivateKey.generate(.ec(.p256))
        let message = Array("a message".utf8)
        let bare = [
            try BareCall.verification(key.publicKey, message: message, signature: key.sign(message)).operation,
            try BareCall.rsaSigning().operation,
        ]
        let costs = try await serving(service.engine) { port in
            var samples: [(whole: Double, bare: Double)] = []
            let rounds = max(3, Int(time / slice) / 2)
            for round in 0...rounds {
                let requests = try await service.requests(each: assertionsEach)
                let parts = try await Interleaved.rates(bare, for: .milliseconds(50))
                let start = processSeconds
                let outcome = try await requests.load(port, for: slice)
                let whole = (processSeconds - start - outcome.generator) / Double(outcome.replies)
                if round > 0 { samples.append((whole, parts.reduce(0) { $0 + 1 / $1 })) }
            }
            return samples
        }
        return [
            ReportLine(
                "http.assertion-exchange.cpu", rate: 1 / median(costs.map(\.whole)),
                limit: 1 / median(costs.map(\.bare)),
                needed: 0.75)
        ]
    }

    /// How long the process has used processors.
    private static var processSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Serves a handler while `body` runs.
    private static func serving<Result: Sendable>(
        _ handler: any CallHandler, _ body: @escaping @Sendable (_ port: Int) async throws -> Result
    ) async throws -> Result {
        let (ports, announce) = AsyncStream.makeStream(of: Int.self)
        let service = try HTTPService(
            handler: handler, configuration: configuration, logger: .silent
        ) { address in
            announce.yield(address.port ?? 0)
        }
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run() }
            defer { group.cancelAll() }
            guard let port = await ports.first(where: { _ in true }) else {
                throw BenchmarkFailure("the server does not start")
            }
            return try await body(port)
        }
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    /// A proxy's question whether a request may pass; the peer answers 204, too, to anything.
    private static func verify(for time: Duration) async throws -> [ReportLine] {
        let service = try await DebugService()
        var tokens: [String] = []
        for _ in 0..<connections { tokens.append(try await service.anotherToken()) }
        let requests = PreparedRequests(askingAbout: tokens)
        let line = try await line("http.verify", service.engine, empty: .noContent, needed: 0.6, for: time) { requests }
        let (rate, limit) = try await serving(service.engine) { port in
            try await serving(SameReply(of: service.engine)) { peer in
                try await rates(of: port, beside: peer, for: time) { requests }
            }
        }
        return [line, ReportLine("http.verify.decision", rate: rate, limit: limit, needed: 0.85)]
    }

    private static func line(
        _ name: String, _ handler: any CallHandler, empty: HTTPResponse.Status = .ok, needed: Double? = nil,
        for time: Duration, _ prepare: @escaping @Sendable () async throws -> PreparedRequests
    ) async throws -> ReportLine {
        let (ports, announce) = AsyncStream.makeStream(of: (name: String, port: Int).self)
        let assay = try HTTPService(
            handler: handler, configuration: configuration, logger: .silent
        ) { address in
            announce.yield(("assay", address.port ?? 0))
        }
        let peer = Application(
            responder: CallbackResponder<BasicRequestContext> { _, _ in Response(status: empty) },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { announce.yield(("peer", $0.localAddress?.port ?? 0)) }, logger: .silent)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await assay.run() }
            group.addTask { try await peer.run() }
            defer { group.cancelAll() }
            var found: [String: Int] = [:]
            for await server in ports {
                found[server.name] = server.port
                if found.count == 2 { break }
            }
            let (rate, limit) = try await rates(
                of: found["assay"] ?? 0, beside: found["peer"] ?? 0, for: time, prepare)
            return ReportLine(name, rate: rate, limit: limit, needed: needed)
        }
    }

    /// Replies a second of servers that are asked by turns: the medians of their slices.
    private static func rates(
        of port: Int, beside peer: Int, for time: Duration, _ prepare: () async throws -> PreparedRequests
    ) async throws -> (Double, Double) {
        var samples: [(assay: Double, peer: Double)] = []
        let rounds = max(3, Int(time / slice) / 2)
        // The first round warms up, and does not count.
        for round in 0...rounds {
            let requests = try await prepare()
            let peerRate = try await requests.rate(on: peer, for: slice)
            let rate = try await requests.rate(on: port, for: slice)
            if round > 0 { samples.append((rate, peerRate)) }
        }
        return (median(samples.map(\.assay)), median(samples.map(\.peer)))
    }
}

/// Decides one call, and gives the same reply to all that follow: what a server costs without a decision.
private final class SameReply: CallHandler {
    private let engine: Engine
    private let reply = Mutex<Reply?>(nil)

    init(of engine: Engine) {
        self.engine = engine
    }

    var methods: [MethodDescriptor] { engine.methods }
    var readiness: Readiness { get async { .ready } }

    func handle(_ call: Call) async -> Reply {
        if let reply = reply.withLock({ $0 }) { return reply }
        let answer = await engine.handle(call)
        if case .success = answer.result { reply.withLock { $0 = answer } }
        return answer
    }
}
