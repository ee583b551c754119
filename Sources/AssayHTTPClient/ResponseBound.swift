internal import NIOCore
internal import NIOHTTP1

/// Bounds what one connection reads for one request, before anything above keeps it.
///
/// The client above ignores informational responses (1xx, RFC 9110, section 15.2) without counting them, and does not
/// limit trailers and chunk extensions. A server that never sends its final response would be read at full speed until
/// the time limit. Bytes are counted after TLS, from the last write of a request on.
final class ResponseBound: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// Informational responses that one final response may have before it.
    static let informationalLimit = 16

    private let headLimit: Int
    private let totalLimit: Int
    private var bytes = 0
    private var informational = 0
    /// Whether the head of the final response was read.
    private var hasHead = false
    fileprivate private(set) var hasFailed = false

    /// - Parameters:
    ///   - headLimit: the most bytes up to the end of the final response's head.
    ///   - totalLimit: the most bytes of the whole response, its framing and trailers included.
    init(headLimit: Int, totalLimit: Int) {
        self.headLimit = headLimit
        self.totalLimit = totalLimit
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        bytes = 0
        informational = 0
        hasHead = false
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // What a server continues sending after a failure is dropped until the connection is closed.
        guard !hasFailed else { return }
        let count = unwrapInboundIn(data).readableBytes
        bytes = bytes > totalLimit - count ? totalLimit + 1 : bytes + count
        guard bytes <= totalLimit else { return fail(ResponseTooLarge(limit: totalLimit), context) }
        context.fireChannelRead(data)
        // The decoder after this handler has read everything by now, so a head that ends in these bytes is known.
        if !hasHead, bytes > headLimit { fail(ResponseTooLarge(limit: headLimit), context) }
    }

    /// The decoder read a head.
    fileprivate func received(_ status: HTTPResponseStatus, _ context: ChannelHandlerContext) {
        // The client above takes what is below 200 for informational, and ends the process when a body follows.
        guard status.code >= 100 else { return fail(InvalidStatus(), context) }
        if status.code >= 200 || status == .switchingProtocols {
            hasHead = true
            return
        }
        informational += 1
        if informational > Self.informationalLimit { fail(TooManyInformationalResponses(), context) }
    }

    private func fail(_ error: any Error, _ context: ChannelHandlerContext) {
        guard !hasFailed else { return }
        hasFailed = true
        context.fireErrorCaught(error)
        context.close(promise: nil)
    }

    /// Puts the bound below the HTTP decoder of a connection that is ready for its first request.
    ///
    /// - Throws: when the connection has no HTTP/1.1 handlers.
    static func add(to channel: any Channel, headLimit: Int, totalLimit: Int) throws {
        let pipeline = channel.pipeline.syncOperations
        let bound = ResponseBound(headLimit: headLimit, totalLimit: totalLimit)
        try pipeline.addHandler(bound, position: .before(try pipeline.handler(type: HTTPRequestEncoder.self)))
        let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        try pipeline.addHandler(HeadObserver(bound), position: .after(decoder))
    }
}

/// Tells a ``ResponseBound`` which heads the decoder reads.
private final class HeadObserver: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart

    private let bound: ResponseBound

    init(_ bound: ResponseBound) {
        self.bound = bound
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head(let head) = unwrapInboundIn(data) { bound.received(head.status, context) }
        // The decoder may have read more at once than the head that was refused.
        if !bound.hasFailed { context.fireChannelRead(data) }
    }
}

/// A server sends one informational response after the other, and no final one.
struct TooManyInformationalResponses: Error {}

/// A server sends a status that HTTP does not have (RFC 9110, section 15).
struct InvalidStatus: Error {}
