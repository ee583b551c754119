import AssayCore
import AssayHTTP
@testable import AssayHTTPServer
import AssayKit
import AssayTestSupport
import NIOCore
import NIOEmbedded
import NIOHTTP1

/// A connection's handlers without a socket.
struct EmbeddedConnection {
    let channel = EmbeddedChannel()

    init(limits: HTTPLimits = HTTPLimits(), budget: TransportBudget = TransportBudget()) throws {
        let gate = InputGate()
        var headerLimits = NIOHTTPDecoderLimitConfiguration()
        headerLimits.maxHeaderFieldSize = limits.headerBytes
        headerLimits.maxHeaderListSize = limits.headerBytes
        headerLimits.maxHeaderFieldCount = limits.headerFields
        let admission = ConnectionAdmission(most: 1, grace: .seconds(1), eventLoop: channel.eventLoop)
        let gateway = try HTTPGateway(handler: FakeHandler(), logger: TestServer.logger)
        let room = PeerBudget(budget)
        let requests = RequestAdmission(gateway: gateway, clock: ReplyDate(.system))
        try channel.pipeline.syncOperations.addHandlers([
            gate, HTTPResponseEncoder(),
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: headerLimits)),
            RequestReader(
                limits: limits, gate: gate, admission: admission, metrics: ConnectionMetrics(.none), room: room,
                requests: requests, reading: RequestReading(limits: limits, room: room)),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// The next input, as one text.
    func input() throws -> String? {
        guard let input = try channel.readInbound(as: HTTPInput.self) else { return nil }
        switch input.content {
        case .fault(let fault, _):
            return "fault \(fault.status.code) \(fault.message)"
        case .request(let request):
            let headers = request.headers.map { "\($0.name): \($0.value)" }
            return "\(request.method) \(request.target) \(headers) \(request.body) \(input.endsConnection)"
        }
    }
}

extension ServerReply {
    /// Some reply.
    static var some: ServerReply { ServerReply(reply: HTTPReply(HTTPStatus(200))) }
}
