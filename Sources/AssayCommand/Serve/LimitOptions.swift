internal import ArgumentParser
internal import AssayHTTPServer

/// What one client, and all of them together, are granted.
struct LimitOptions: ParsableArguments {
    @Option(help: "The most connections at once.", valueName: "number", reading: .number(1...1_000_000))
    var maxConnections = HTTPLimits().maximumConnections

    @Option(help: "The largest request body.", valueName: "bytes", reading: .number(1024...16_777_216))
    var maxBodyBytes = HTTPLimits().bodyBytes

    @Option(
        help: "The largest request line and headers together.", valueName: "bytes", reading: .number(1024...65_536))
    var maxHeaderBytes = HTTPLimits().headerBytes

    @Option(
        help: "How long a request's head may take to arrive, and its body.", valueName: "seconds",
        reading: .number(1...600))
    var receiveTime = Int(HTTPLimits().headTime.components.seconds)

    @Option(
        help: "How long a connection may be kept without input.", valueName: "seconds", reading: .number(1...3600))
    var idleTime = Int(HTTPLimits().idleTime.components.seconds)

    @Option(
        help:
            "The most memory that connections, unanswered requests and replies may use together, on all listeners; beyond it "
            + "the newest are refused.", valueName: "bytes", reading: .number(1_048_576...1_099_511_627_776))
    var maxTransportBytes = TransportBudget().byteLimit

    @Option(
        help: "The most requests that may be open at once, on all listeners.", valueName: "number",
        reading: .number(1...1_000_000))
    var maxStreams = TransportBudget().streamLimit

    @Option(
        help:
            "How long requests may wait to be worked on. When they wait longer on average, the server is overloaded, and "
            + "refuses as many with 503 as it has to; 0 to let all wait.", valueName: "milliseconds",
        reading: .number(0...10_000))
    var maxQueueTime = 20

    var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.maximumConnections = maxConnections
        limits.bodyBytes = maxBodyBytes
        limits.headerBytes = maxHeaderBytes
        limits.headTime = .seconds(receiveTime)
        limits.bodyTime = .seconds(receiveTime)
        limits.idleTime = .seconds(idleTime)
        limits.queueTime = maxQueueTime == 0 ? nil : .milliseconds(maxQueueTime)
        return limits
    }

    /// What all listeners of the process share.
    var budget: TransportBudget { TransportBudget(bytes: maxTransportBytes, streams: maxStreams) }
}
