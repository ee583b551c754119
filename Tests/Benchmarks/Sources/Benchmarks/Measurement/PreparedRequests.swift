internal import AssayCore
internal import AssayKit
internal import CLoad
internal import Foundation

/// HTTP requests as they go over the wire, made before anything is measured.
struct PreparedRequests: Sendable {
    private var bytes: [UInt8] = []
    private var lengths: [Int] = []
    private let connections: Int
    private let each: Int
    private let repeats: Bool

    /// One request that all connections send again and again.
    init(repeating method: String, of resource: String, _ body: JSON, on connections: Int) {
        self.init(on: connections, each: 1, repeats: true)
        for _ in 0..<connections { append(method, of: resource, body) }
    }

    /// A proxy's question about requests with tokens, one for each connection, again and again.
    init(askingAbout tokens: [String]) {
        self.init(on: tokens.count, each: 1, repeats: true)
        for token in tokens {
            let head = """
                GET /verify/orders HTTP/1.1\r
                Host: 127.0.0.1\r
                X-Original-URI: /orders/1\r
                X-Firebase-AppCheck: \(token)\r
                \r

                """
            bytes += head.utf8
            lengths.append(head.utf8.count)
        }
    }

    /// Requests of which each is good for one time, `each` of them for every connection.
    init(on connections: Int, each: Int) {
        self.init(on: connections, each: each, repeats: false)
    }

    private init(on connections: Int, each: Int, repeats: Bool) {
        self.connections = connections
        self.each = each
        self.repeats = repeats
    }

    /// Adds the next request: all of the first connection come first, in the order in which it sends them.
    mutating func append(_ method: String, of resource: String, _ body: JSON) {
        let body = body.encoded
        let head = """
            POST /v1/\(resource):\(method) HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Content-Length: \(body.count)\r
            \r

            """
        bytes += head.utf8
        bytes += body
        lengths.append(head.utf8.count + body.count)
    }

    /// What came of a load.
    struct Outcome: Sendable {
        /// Replies a second.
        let rate: Double
        /// All replies, those after the end of the time included.
        let replies: Int
        /// How long the generator used a processor, in seconds.
        let generator: Double
    }

    /// How many replies a second a server on a port of 127.0.0.1 gives, in a time or until the requests are used up.
    func rate(on port: Int, for time: Duration) async throws -> Double {
        try await load(port, for: time).rate
    }

    /// Sends the requests to a server on a port of 127.0.0.1, for a time or until they are used up.
    func load(_ port: Int, for time: Duration) async throws -> Outcome {
        try BenchmarkFailure.unless(lengths.count == connections * each, "there are not as many requests as are sent")
        let milliseconds = Int(time / .milliseconds(1))
        // A thread of its own, because it blocks.
        let outcome = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                var replies = 0
                var generator = 0.0
                let rate = bytes.withUnsafeBufferPointer { bytes in
                    lengths.withUnsafeBufferPointer { lengths in
                        let requests = load_requests(
                            bytes: bytes.baseAddress, lengths: lengths.baseAddress, connections: Int32(connections),
                            each: Int32(each), repeats: repeats ? 1 : 0)
                        return load_run(UInt16(clamping: port), requests, milliseconds, &replies, &generator)
                    }
                }
                continuation.resume(returning: Outcome(rate: rate, replies: replies, generator: generator))
            }
        }
        try BenchmarkFailure.unless(outcome.rate >= 0, "a request was not answered, or not with 200")
        return outcome
    }
}
