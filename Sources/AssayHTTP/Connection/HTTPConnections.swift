internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOSSL

/// What the server does with each connection it takes: reads requests, and answers them one after the other.
///
/// Not Hummingbird's own channel, because that answers malformed requests without a body, reads on through whatever is
/// left of a refused one, and bounds the pauses of a slow client rather than the whole.
struct HTTPConnections: ServerChildChannel {
    let responder: RequestResponder
    let limits: HTTPLimits
    let slots: ConnectionSlots
    let metrics: HTTPMetrics
    /// What is shown over TLS; nil to serve without.
    var certificate: ServerCertificate?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTPConnection> {
        let connection = channel.eventLoop.makeCompletedFuture {
            // What one read can bring in bounds how many pipelined requests wait in memory: a hundred, of some 400 bytes
            // each. Most requests are shorter than that.
            try channel.syncOptions?.setOption(.maxMessagesPerRead, value: 1)
            try channel.syncOptions?.setOption(
                .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 4096, maximum: 4096))
            // Otherwise the system lets what a client does not read grow to megabytes.
            try channel.syncOptions?.setOption(.socketOption(.so_sndbuf), value: limits.sendBufferBytes)

            var headerLimits = NIOHTTPDecoderLimitConfiguration()
            headerLimits.maxHeaderFieldSize = limits.headerBytes
            headerLimits.maxHeaderListSize = limits.headerBytes
            headerLimits.maxHeaderFieldCount = limits.headerFields
            let gate = InputGate()
            let (inputs, continuation) = AsyncStream.makeStream(of: HTTPInput.self)
            // Also when nobody comes to read them, because the server shuts down just now.
            continuation.onTermination = { _ in channel.close(promise: nil) }
            if let certificate {
                // Within the handshake the client is waited for as for the first byte of a request.
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: certificate.context))
            }
            try channel.pipeline.syncOperations.addHandlers([
                gate,
                HTTPResponseEncoder(),
                ByteToMessageHandler(
                    HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes, limitConfiguration: headerLimits)),
                RequestReader(limits: limits, gate: gate, slots: slots),
                InputSink(continuation),
            ])
            metrics.opened()
            channel.closeFuture.whenComplete { _ in metrics.closed() }
            return HTTPConnection(channel: channel, inputs: inputs)
        }
        // Nobody else closes a connection that was never handed on.
        connection.whenFailure { _ in channel.close(promise: nil) }
        return connection
    }

    func handle(value connection: HTTPConnection, logger: Logger) async {
        let channel = connection.channel
        let peer = channel.remoteAddress?.ipAddress
        await withTaskCancellationHandler {
            // The reader closes the connection, and with that ends the inputs.
            for await input in connection.inputs {
                do {
                    try await channel.writeAndFlush(await responder.reply(to: input, peer: peer))
                } catch {
                    logger.trace("a connection broke", metadata: ["error": "\(error)"])
                    break
                }
            }
        } onCancel: {
            channel.close(promise: nil)
        }
        try? await channel.close()
    }
}
