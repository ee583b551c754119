internal import AssayHTTP
internal import AssayKit
internal import CLoad
internal import Foundation
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import ServiceLifecycle

/// Whole requests over loopback, from a load generator in the same process.
enum HTTPBenchmarks {
    static let all = [Benchmark(names: ["http.debug-exchange"], run: exchange)]

    private static let connections: Int32 = 32
    private static let slice = Duration.milliseconds(250)

    /// A debug exchange beside Hummingbird's empty reply to the same request.
    private static func exchange(for time: Duration) async throws -> [ReportLine] {
        let handler = try await DebugService().engine
        let (ports, announce) = AsyncStream.makeStream(of: (name: String, port: Int).self)
        let assay = try HTTPService(
            handler: handler, configuration: HTTPConfiguration(host: "127.0.0.1", port: 0), logger: .silent
        ) { _, port in
            announce.yield(("assay", port))
        }
        let peer = Application(
            responder: CallbackResponder<BasicRequestContext> { _, _ in Response(status: .ok) },
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
            let rates = try await rates(of: [found["assay"] ?? 0, found["peer"] ?? 0], for: time)
            return [ReportLine("http.debug-exchange", rate: rates[0], limit: rates[1])]
        }
    }

    /// Replies a second of servers that are asked by turns: the medians of their slices.
    private static func rates(of ports: [Int], for time: Duration) async throws -> [Double] {
        var samples = [[Double]](repeating: [], count: ports.count)
        let rounds = max(3, Int(time / slice) / ports.count)
        // The first round warms up, and does not count.
        for round in 0...rounds {
            for (index, port) in ports.enumerated() {
                let rate = try await load(on: port)
                if round > 0 { samples[index].append(rate) }
            }
        }
        return samples.map { $0.sorted()[$0.count / 2] }
    }

    private static func load(on port: Int) async throws -> Double {
        let request = request
        let milliseconds = Int(slice / .milliseconds(1))
        // A thread of its own, because it blocks.
        let replies = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let port = UInt16(clamping: port)
                continuation.resume(returning: load_run(port, request, request.count, connections, milliseconds))
            }
        }
        try BenchmarkFailure.unless(replies >= 0, "a request was not answered, or not with 200")
        return Double(replies) / (slice / .seconds(1))
    }

    private static var request: [UInt8] {
        let body = DebugService.body.encoded
        let head = """
            POST /v1/\(DebugService.resource):exchangeDebugToken HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            \r

            """
        return Array(head.utf8) + body
    }
}
