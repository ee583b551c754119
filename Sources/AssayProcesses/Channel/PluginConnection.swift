internal import AssayCore
package import NIOCore
internal import NIOHTTP2
internal import NIOPosix
package import SwiftProtobuf

/// A connection to the Unix socket of a process, over which it is called.
package final class PluginConnection: Sendable {
    /// The most bytes of a reply of any method.
    static let replyLimit = 1 << 20

    private let channel: any Channel
    private let service: String
    private let streams: NIOHTTP2Handler.StreamMultiplexer

    private init(
        _ channel: any Channel, _ service: String, _ streams: NIOHTTP2Handler.StreamMultiplexer
    ) {
        self.channel = channel
        self.service = service
        self.streams = streams
    }

    /// Connects to a socket.
    ///
    /// - Parameter service: the full name of the service that is called.
    /// - Throws: what the system says.
    package static func connect(
        to path: String, service: String = "assay.plugin.v1.Plugin", timeLimit: Duration
    ) async throws -> PluginConnection {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(TimeAmount(timeLimit))
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture {
                    var connection = NIOHTTP2Handler.ConnectionConfiguration()
                    connection.initialSettings = [
                        HTTP2Setting(parameter: .enablePush, value: 0),
                        HTTP2Setting(parameter: .maxConcurrentStreams, value: 0),
                        HTTP2Setting(parameter: .maxHeaderListSize, value: 16_384),
                        HTTP2Setting(parameter: .initialWindowSize, value: 1 << 20),
                    ]
                    // Calls that are cancelled reset their streams.
                    var stream = NIOHTTP2Handler.StreamConfiguration()
                    stream.targetWindowSize = 1 << 20
                    return try channel.pipeline.syncOperations.configureHTTP2Pipeline(
                        mode: .client, connectionConfiguration: connection, streamConfiguration: stream
                    ) { stream in stream.close() }
                }
                .map { streams in (channel, streams) }
            }
        return PluginConnection(channel.0, service, channel.1)
    }

    /// Completes when the connection is closed, by whomever.
    var closed: EventLoopFuture<Void> { channel.closeFuture }

    package func close() { channel.close(mode: .all, promise: nil) }

    /// Calls a method; usable from threads that may block.
    ///
    /// - Returns: the reply, and what cancels the call.
    func start<Reply: Message>(
        _ method: String, _ request: some Message, as type: Reply.Type, timeLimit: Duration
    ) throws -> (reply: EventLoopFuture<ByteBuffer>, cancel: @Sendable () -> Void) {
        let reply = channel.eventLoop.makePromise(of: ByteBuffer.self)
        let stream = channel.eventLoop.makePromise(of: (any Channel).self)
        stream.futureResult.whenFailure { error in
            reply.fail(GRPCFailure(.unavailable, "the process cannot be called: \(error)"))
        }
        let message = try GRPCMessage.encode(request, channel.allocator)
        let path = "/\(service)/\(method)"
        streams.createStreamChannel(promise: stream) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(
                    UnaryCall(
                        path, request: message, timeLimit: TimeAmount(timeLimit),
                        replyLimit: PluginConnection.replyLimit, promise: reply))
            }
        }
        let made = stream.futureResult
        return (reply.futureResult, { made.whenSuccess { $0.close(promise: nil) } })
    }

    /// Calls a method, and waits for the reply without blocking a thread.
    ///
    /// - Throws: `GRPCFailure`; `CancellationError` when the task is cancelled.
    package func call<Reply: Message>(
        _ method: String, _ request: some Message, as type: Reply.Type = Reply.self, timeLimit: Duration
    ) async throws -> Reply {
        let call = try start(method, request, as: type, timeLimit: timeLimit)
        let reply = try await withTaskCancellationHandler {
            try await call.reply.get()
        } onCancel: {
            call.cancel()
        }
        return try PluginConnection.decode(reply)
    }

    /// Calls a method, and blocks the thread until the reply is there; never on an event loop.
    ///
    /// Policies are made into instances without suspension points, and their plugins are asked meanwhile.
    func callBlocking<Reply: Message>(
        _ method: String, _ request: some Message, as type: Reply.Type = Reply.self, timeLimit: Duration
    ) throws -> Reply {
        try PluginConnection.decode(start(method, request, as: type, timeLimit: timeLimit).reply.wait())
    }

    private static func decode<Reply: Message>(_ buffer: ByteBuffer) throws -> Reply {
        guard let payload = GRPCMessage.payload(of: buffer),
            let reply = try? Reply(serializedBytes: Array(payload), options: limits)
        else { throw GRPCFailure(.internalError, "the process answered with a message of another form") }
        return reply
    }

    private static let limits: BinaryDecodingOptions = {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = 16
        return options
    }()
}
