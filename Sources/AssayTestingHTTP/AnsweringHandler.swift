internal import AssayCore
internal import AssayTesting
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization

/// Reads the requests of a connection of a ``LocalServer``, and writes what the script answers.
final class AnsweringHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private static let bodyLimit = 1 << 20

    private let scheme: String
    private let answering: @Sendable (OutboundRequest) async -> ScriptedAnswer
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    /// One at a time: the pipeline passes a request on when the one before it is answered.
    private var answer: Task<Void, Never>?

    init(_ scheme: String, _ answering: @escaping @Sendable (OutboundRequest) async -> ScriptedAnswer) {
        self.scheme = scheme
        self.answering = answering
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let received): (head, body) = (received, [])
        case .body(let bytes):
            body.append(contentsOf: bytes.readableBytesView)
            if body.count > Self.bodyLimit { context.close(promise: nil) }
        case .end:
            guard let head, let request = request(head, context.localAddress?.port) else {
                return context.close(promise: nil)
            }
            let this = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            answer = Task { [answering, eventLoop = context.eventLoop] in
                let answer = await answering(request)
                eventLoop.execute { this.value.0.write(answer, this.value.1) }
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        answer?.cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func write(_ answer: ScriptedAnswer, _ context: ChannelHandlerContext) {
        switch answer {
        case .respond(let response):
            write(response, length: response.body.count, context)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        case .stall(let response):
            write(response, length: response.body.count + 1, context)
            context.flush()
        case .silence, .proceed: break
        case .hangUp: context.close(promise: nil)
        }
    }

    private func write(_ response: OutboundResponse, length: Int, _ context: ChannelHandlerContext) {
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        if response.status != 304, response.header("transfer-encoding") == nil {
            headers.replaceOrAdd(name: "content-length", value: "\(length)")
        }
        let status = HTTPResponseStatus(statusCode: response.status)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !response.body.isEmpty, self.head?.method != .HEAD {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
    }

    private func request(_ head: HTTPRequestHead, _ port: Int?) -> OutboundRequest? {
        guard let port, let method = OutboundRequest.Method(rawValue: head.method.rawValue),
            let url = EndpointURL("\(scheme)://localhost:\(port)\(head.uri)")
        else { return nil }
        return OutboundRequest(
            method, url, headers: head.headers.map { OutboundHeader($0.name, $0.value) }, body: body)
    }
}

/// The connections of a ``LocalServer`` that are open.
final class OpenChannels: Sendable {
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    func add(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        let isLate = state.withLock { state in
            if !state.isClosed { state.channels[id] = channel }
            return state.isClosed
        }
        // One that was accepted before its server was closed may be set up after all others were closed.
        if isLate { return channel.close(promise: nil) }
        channel.closeFuture.whenComplete { _ in self.state.withLock { _ = $0.channels.removeValue(forKey: id) } }
    }

    /// Closes all connections, and each that still comes.
    func close() async {
        let open = state.withLock { state in
            state.isClosed = true
            return Array(state.channels.values)
        }
        for channel in open { channel.close(promise: nil) }
        for channel in open { try? await channel.closeFuture.get() }
    }
}
