import AssayCore
import AssayKit
import AssayTestSupport
import NIOCore
import NIOPosix
import NIOSSL

/// A connection that sends bytes as they are, and reads replies off it.
struct RawConnection {
    struct Ended: Error {}

    /// Threads of the clients' own: those of the server may be busy.
    private static let threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    let channel: any Channel
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator
    private var buffer: [UInt8] = []

    /// Connects to a port of this machine for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - source: another address of this machine than the usual one.
    ///   - first: is sent as soon as the connection is there. What is sent later may be too late on a machine so busy that
    ///     `body` is kept waiting for longer than the server waits.
    static func with<Result: Sendable>(
        port: Int, from source: String = "127.0.0.1", sending first: String = "", tls: NIOSSLContext? = nil,
        _ body: (inout RawConnection) async throws -> Result
    ) async throws -> Result {
        let channel = try await ClientBootstrap(group: threads)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .bind(to: SocketAddress(ipAddress: source, port: 0))
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(Greeting(first))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var connection = RawConnection(
                channel: channel.channel, outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&connection)
        }
    }

    func send(_ text: String) async throws {
        try await outbound.write(ByteBuffer(string: text))
    }

    func send(_ bytes: [UInt8]) async throws {
        try await outbound.write(ByteBuffer(bytes: bytes))
    }

    /// Says that nothing more will be sent.
    func finishSending() async throws {
        try await channel.close(mode: .output)
    }

    /// The next reply, while the same bytes are sent again and again until it is there.
    mutating func reply(whileSending piece: [UInt8], every pause: Duration) async throws -> RawReply {
        let outbound = outbound
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled, (try? await outbound.write(ByteBuffer(bytes: piece))) != nil {
                    try? await Task.sleep(for: pause)
                }
            }
            defer { group.cancelAll() }
            return try await reply()
        }
    }

    /// The next reply.
    mutating func reply(hasBody: Bool = true) async throws -> RawReply {
        let head = String(decoding: try await read { RawConnection.endOfHead($0) }, as: UTF8.self)
        var lines = head.split(separator: "\r\n")
        guard let first = lines.first?.split(separator: " "), first.count >= 2, first[0] == "HTTP/1.1",
            let status = Int(first[1])
        else { throw Ended() }
        lines.removeFirst()
        let headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (name: parts[0].lowercased(), value: String(parts[1].drop { $0 == " " }))
        }
        let length = headers.first { $0.name == "content-length" }.flatMap { Int($0.value) } ?? 0
        let body = hasBody && length > 0 ? try await read { $0.count >= length ? length : nil } : []
        return RawReply(status: status, headers: headers, body: body)
    }

    /// What comes until the server closes.
    mutating func rest() async throws -> [UInt8] {
        while let more = try await inbound.next() { buffer += more.readableBytesView }
        defer { buffer = [] }
        return buffer
    }

    mutating func read(_ end: ([UInt8]) -> Int?) async throws -> [UInt8] {
        while true {
            if let count = end(buffer) {
                defer { buffer.removeFirst(count) }
                return Array(buffer.prefix(count))
            }
            guard let more = try await inbound.next() else { throw Ended() }
            buffer += more.readableBytesView
        }
    }

    private static func endOfHead(_ bytes: [UInt8]) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: Array("\r\n\r\n".utf8)) }.map { $0 + 4 }
    }
}

/// Sends some bytes when the connection has been made.
private final class Greeting: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let text: String

    init(_ text: String) { self.text = text }

    func channelActive(context: ChannelHandlerContext) {
        if !text.isEmpty { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil) }
        context.fireChannelActive()
    }
}
