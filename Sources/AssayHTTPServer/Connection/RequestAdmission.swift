internal import AssayCore
internal import AssayHTTP
internal import NIOCore

/// Refuses requests before they cost any work, while the server cannot keep up.
struct RequestAdmission: Sendable {
    /// Nil if nothing is refused.
    var gate: OverloadGate?
    let gateway: HTTPGateway
    let clock: ReplyDate
    /// The other end of the connection; nil if it has no address.
    private var peer: String?
    private var group = PeerGroup.unknown
    /// Whether many clients may share the connection.
    private var isProxy = false
    /// What distinguishes the connection from others.
    private var connection: ObjectIdentifier

    init(gateway: HTTPGateway, clock: ReplyDate) {
        self.gateway = gateway
        self.clock = clock
        connection = ObjectIdentifier(clock)
    }

    /// The same for the requests of a connection.
    func of(_ channel: any Channel, gate: OverloadGate?) -> RequestAdmission {
        var requests = self
        requests.gate = gate
        requests.peer = channel.peerAddress
        requests.group = PeerGroup(requests.peer)
        requests.isProxy = gateway.trusts(requests.peer)
        requests.connection = ObjectIdentifier(channel)
        return requests
    }

    /// Refusals are delayed by this much at least, or not at all.
    private static let burst = Duration.milliseconds(5)

    /// Gives a request its place among those that wait.
    ///
    /// Returns the reply to a request that is refused, and after which time it is to be sent.
    func admit(_ input: inout HTTPInput) -> (reply: ServerReply, delay: Duration)? {
        guard let gate, case .request(let request) = input.content else { return nil }
        // Behind a proxy without `X-Forwarded-For`, only connections distinguish clients.
        let client = isProxy ? PeerGroup(gateway.client(request, peer)) : group
        switch gate.arrive(from: RequestSource(peer: client, connection: connection)) {
        case .waits(let ticket):
            input.ticket = ticket
            return nil
        case .refused(let delay):
            // Many that come at once may be refused at once.
            let delay = delay < Self.burst ? .zero : delay
            return refusal(of: request, input).map { ($0, delay) }
        }
    }

    /// Returns the reply to a request that has waited for too long, or gave its place to another; nil when it is to be answered.
    func begin(_ input: HTTPInput) -> ServerReply? {
        guard case .request(let request) = input.content, let ticket = input.ticket, !ticket.begin() else { return nil }
        return refusal(of: request, input)
    }

    private func refusal(of request: GatewayRequest, _ input: HTTPInput) -> ServerReply? {
        guard var reply = gateway.replyWhileBusy(to: request) else { return nil }
        reply.headers.append(("date", clock.text))
        return ServerReply(reply, to: input)
    }
}
