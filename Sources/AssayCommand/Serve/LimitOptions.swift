internal import ArgumentParser
internal import AssayHTTPServer
internal import AssayTransport

/// What one client, and all of them together, are granted.
struct LimitOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The most connections at once.", valueName: "number"))
    var maxConnections = HTTPLimits().maximumConnections

    @Option(help: ArgumentHelp("The largest request body.", valueName: "bytes"))
    var maxBodyBytes = HTTPLimits().bodyBytes

    @Option(help: ArgumentHelp("The largest request line and headers together.", valueName: "bytes"))
    var maxHeaderBytes = HTTPLimits().headerBytes

    @Option(help: ArgumentHelp("How long a request's head may take to arrive, and its body.", valueName: "seconds"))
    var receiveTime = Int(HTTPLimits().headTime.components.seconds)

    @Option(help: ArgumentHelp("How long a connection may be kept without input.", valueName: "seconds"))
    var idleTime = Int(HTTPLimits().idleTime.components.seconds)

    @Option(
        help: ArgumentHelp(
            "The most memory that connections, unanswered requests and replies may use together, on all listeners; beyond "
                + "it the newest are refused.", valueName: "bytes"))
    var maxTransportBytes = TransportBudget().byteLimit

    @Option(help: ArgumentHelp("The most requests that may be open at once, on all listeners.", valueName: "number"))
    var maxStreams = TransportBudget().streamLimit

    func validate() throws {
        try check("--max-connections", maxConnections, in: 1...1_000_000)
        try check("--max-body-bytes", maxBodyBytes, in: 1024...16_777_216)
        try check("--max-header-bytes", maxHeaderBytes, in: 1024...65_536)
        try check("--receive-time", receiveTime, in: 1...600)
        try check("--idle-time", idleTime, in: 1...3600)
        try check("--max-transport-bytes", maxTransportBytes, in: 1_048_576...1_099_511_627_776)
        try check("--max-streams", maxStreams, in: 1...1_000_000)
    }

    var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.maximumConnections = maxConnections
        limits.bodyBytes = maxBodyBytes
        limits.headerBytes = maxHeaderBytes
        limits.headTime = .seconds(receiveTime)
        limits.bodyTime = .seconds(receiveTime)
        limits.idleTime = .seconds(idleTime)
        return limits
    }

    /// What all listeners of the process share.
    var budget: TransportBudget { TransportBudget(bytes: maxTransportBytes, streams: maxStreams) }

    private func check(_ name: String, _ value: Int, in range: ClosedRange<Int>) throws {
        guard range.contains(value) else {
            throw ValidationError("\(name) takes a number from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
