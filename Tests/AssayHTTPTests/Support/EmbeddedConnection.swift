import NIOCore
import NIOEmbedded
import NIOHTTP1

@testable import AssayHTTP

/// A connection's handlers without a socket.
struct EmbeddedConnection {
    let channel = EmbeddedChannel()

    init(limits: HTTPLimits = HTTPLimits(), budget: TransportBudget = TransportBudget()) throws {
        let gate = InputGate()
        var headerLimits = NIOHTTPDecoderLimitConfiguration()
        headerLimits.maxHeaderFieldSize = limits.headerBytes
        headerLimits.maxHeaderListSize = limits.headerBytes
        headerLimits.maxHeaderFieldCount = limits.headerFields
        let slots = ConnectionSlots(most: 1, grace: .seconds(1), eventLoop: channel.eventLoop)
        try channel.pipeline.syncOperations.addHandlers([
            gate, HTTPResponseEncoder(),
            ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: headerLimits)),
            RequestReader(limits: limits, gate: gate, slots: slots, room: PeerRoom(budget)),
        ])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    /// The next input, as one text.
    func input() throws -> String? {
        guard let input = try channel.readInbound(as: HTTPInput.self) else { return nil }
        switch input.content {
        case .fault(let fault, _):
            return "fault \(fault.status.code) \(fault.message)"
        case .request(let head, let body):
            return "\(head.method) \(head.target) \(head.headers) \(body) \(input.endsConnection)"
        }
    }
}
