internal import AssayCore
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

/// The stream of one call to a process: sends the request, and collects the reply.
///
/// Whatever the process sends, the call ends once: with the reply, or with the reason why there is none.
final class UnaryCall: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let path: String
    private let request: ByteBuffer
    private let timeLimit: TimeAmount
    private let replyLimit: Int
    private var promise: EventLoopPromise<ByteBuffer>?
    private var timer: Scheduled<Void>?
    private var reply = ByteBuffer()
    private var hasHead = false

    /// - Parameters:
    ///   - path: `/PACKAGE.SERVICE/METHOD`.
    ///   - request: the message with its prefix.
    ///   - replyLimit: the most bytes of the reply.
    init(
        _ path: String, request: ByteBuffer, timeLimit: TimeAmount, replyLimit: Int,
        promise: EventLoopPromise<ByteBuffer>
    ) {
        self.path = path
        self.request = request
        self.timeLimit = timeLimit
        self.replyLimit = replyLimit
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: timeLimit) {
            let (call, context) = bound.value
            call.fail(GRPCFailure(.deadlineExceeded, "the process did not answer in time"), context)
        }
        let headers: HPACKHeaders = [
            ":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost",
            "content-type": "application/grpc", "te": "trailers",
            "grpc-timeout": "\(max(1, timeLimit.nanoseconds / 1_000_000))m",
        ]
        context.write(wrapOutboundOut(.headers(.init(headers: headers))), promise: nil)
        context.writeAndFlush(
            wrapOutboundOut(.data(.init(data: .byteBuffer(request), endStream: true))), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .headers(let frame): read(frame, context)
        case .data(let frame):
            guard hasHead, case .byteBuffer(var bytes) = frame.data else {
                return fail(GRPCFailure(.internalError, "the process did not answer as gRPC"), context)
            }
            guard reply.readableBytes + bytes.readableBytes <= replyLimit + GRPCMessage.prefixLength else {
                return fail(
                    GRPCFailure(.resourceExhausted, "the process answered with more than \(replyLimit) bytes"), context)
            }
            reply.writeBuffer(&bytes)
            if frame.endStream {
                fail(GRPCFailure(.internalError, "the process ended its answer without a status"), context)
            }
        default: break
        }
    }

    private func read(_ frame: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
        let headers = frame.headers
        if !hasHead {
            guard headers.first(name: ":status")?.isExactly("200") == true,
                headers.first(name: "content-type")?.utf8.starts(with: "application/grpc".utf8) == true
            else { return fail(GRPCFailure(.internalError, "the process did not answer as gRPC"), context) }
            hasHead = true
        }
        guard let status = headers.first(name: "grpc-status") else {
            if frame.endStream {
                fail(GRPCFailure(.internalError, "the process ended its answer without a status"), context)
            }
            return
        }
        guard status.isExactly("0") else {
            let text = headers.first(name: "grpc-message").map { GRPCText.decode($0) } ?? ""
            let code = Int(status).flatMap { GRPCFailure.Code(rawValue: $0) } ?? .unknown
            return fail(GRPCFailure(code, text), context)
        }
        timer?.cancel()
        promise?.succeed(reply)
        promise = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail(GRPCFailure(.unavailable, "the connection to the process failed: \(error)"), context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(GRPCFailure(.unavailable, "the process ended the call"))
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end(GRPCFailure(.unavailable, "the connection to the process is closed"))
    }

    private func fail(_ error: GRPCFailure, _ context: ChannelHandlerContext) {
        end(error)
        context.close(promise: nil)
    }

    private func end(_ error: GRPCFailure) {
        timer?.cancel()
        promise?.fail(error)
        promise = nil
    }
}
