#if Simulator
internal import NIOCore

/// One connection, with one request at a time.
///
/// It is used on its event loop alone.
final class LoadConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    typealias Completion = (Result<LoadReply, LoadFailure>) -> Void

    private let tlsWords: (any Error) -> String?
    private var reader = LoadReplyReader()
    private var completion: Completion?
    private var context: ChannelHandlerContext?
    private var isEnding = false
    private var failure = "the server closed the connection"
    /// When the request was sent; nil when there is none.
    private(set) var sent: NIODeadline?
    /// The connection has ended, with or without a request.
    var onClose: () -> Void = {}

    /// - Parameter tlsWords: what a failure of TLS means; nil for another error.
    init(tlsWords: @escaping (any Error) -> String?) {
        self.tlsWords = tlsWords
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    /// Sends a whole request; the completion is called once.
    func send(_ request: ByteBuffer, then completion: @escaping Completion) {
        self.completion = completion
        sent = NIODeadline.now()
        guard let context else { return end(.failure(LoadFailure(failure))) }
        context.writeAndFlush(wrapOutboundOut(request), promise: nil)
    }

    /// Closes it; a request that is not answered fails.
    func close(because words: String) {
        failure = words
        guard let context else { return }
        context.close(promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        reader.append(&bytes)
        do throws(LoadFailure) {
            guard let reply = try reader.next() else { return }
            isEnding = reply.closes
            end(.success(reply))
            if reply.closes { context.close(promise: nil) }
        } catch {
            close(because: error.description)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(because: tlsWords(error) ?? "\(error)")
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        onClose()
        end(.failure(LoadFailure(failure)))
    }

    /// Whether a request can be sent on it.
    var isUsable: Bool { !isEnding && completion == nil && context?.channel.isActive == true }

    private func end(_ result: Result<LoadReply, LoadFailure>) {
        guard let completion else { return }
        self.completion = nil
        sent = nil
        completion(result)
    }
}
#endif
