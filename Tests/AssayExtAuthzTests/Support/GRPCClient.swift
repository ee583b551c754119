import AssayCore
import AssayHTTPServer
import AssayKit
import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import SwiftProtobuf

@testable import AssayExtAuthz

/// A client of gRPC over HTTP/2, as far as these tests need one (grpc/doc/PROTOCOL-HTTP2.md).
struct GRPCClient {
    typealias Stream = NIOAsyncChannel<HTTP2Frame.FramePayload, HTTP2Frame.FramePayload>

    private let channel: any Channel
    private let streams: NIOHTTP2Handler.AsyncStreamMultiplexer<Void>

    /// Connects for as long as `body` runs.
    static func with<Result: Sendable>(
        _ server: ExtAuthzServer, tls: NIOSSLContext? = nil, from address: String? = nil,
        _ body: (GRPCClient) async throws -> Result
    ) async throws -> Result {
        var bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        if let address { bootstrap = bootstrap.bind(to: try SocketAddress(ipAddress: address, port: 0)) }
        let setUp: @Sendable (any Channel) -> EventLoopFuture<GRPCClient> = { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls {
                    let handler = try NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
                let streams = try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
                    mode: .client, configuration: .init()
                ) { $0.close() }
                return GRPCClient(channel: channel, streams: streams)
            }
        }
        let client =
            switch server.address {
            case .host(let host, let port):
                try await bootstrap.connect(host: host, port: port, channelInitializer: setUp)
            case .unixSocket(let path, _):
                try await bootstrap.connect(unixDomainSocketPath: path, channelInitializer: setUp)
            case .systemd: throw CancellationError()
            }
        defer { client.channel.close(promise: nil) }
        return try await body(client)
    }

    /// Asks as Envoy does.
    func check(_ request: CheckRequest) async throws -> CheckResponse {
        try await check(bytes: try request.serializedBytes())
    }

    /// Sends something in the place of a request.
    func check(bytes: [UInt8]) async throws -> CheckResponse {
        try await CheckResponse(serializedBytes: unary("/envoy.service.auth.v3.Authorization/Check", bytes))
    }

    /// Asks whether the server works.
    func health(_ service: String = "") async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus {
        let request = Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }
        return try await Grpc_Health_V1_HealthCheckResponse(
            serializedBytes: unary("/grpc.health.v1.Health/Check", try request.serializedBytes())
        ).status
    }

    /// Is told whether the server works, and whenever that changes.
    func watch<Result: Sendable>(
        _ service: String = "",
        _ body: (_ next: () async throws -> Grpc_Health_V1_HealthCheckResponse.ServingStatus?) async throws -> Result
    ) async throws -> Result {
        let request = try Grpc_Health_V1_HealthCheckRequest.with { $0.service = service }.serializedBytes() as [UInt8]
        return try await call("/grpc.health.v1.Health/Watch", GRPCClient.frame(request)) { replies in
            try await body {
                try await replies.next().map { try Grpc_Health_V1_HealthCheckResponse(serializedBytes: $0).status }
            }
        }
    }

    /// A call with one message each way.
    func unary(_ path: String, _ message: [UInt8], fields: [(String, String)] = []) async throws -> [UInt8] {
        try await call(path, GRPCClient.frame(message), fields: fields) { replies in
            guard let reply = try await replies.next(), try await replies.next() == nil else {
                throw GRPCFailure(code: GRPCFailure.broken, message: "not one reply")
            }
            return reply
        }
    }

    /// Sends bytes in the place of a message, and reads what comes.
    ///
    /// - Parameters:
    ///   - fields: further ones of the head.
    ///   - ends: whether the client says that there is no more to come.
    func call<Result>(
        _ path: String, _ bytes: [UInt8], fields: [(String, String)] = [], ends: Bool = true,
        _ body: (GRPCReplies) async throws -> Result
    ) async throws -> Result {
        let stream = try await streams.openStream { channel in
            channel.eventLoop.makeCompletedFuture { try Stream(wrappingChannelSynchronously: channel) }
        }
        return try await stream.executeThenClose { inbound, outbound in
            var headers: HPACKHeaders = [
                ":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost", "te": "trailers",
                "content-type": "application/grpc",
            ]
            headers.add(contentsOf: fields)
            do {
                try await outbound.write(.headers(.init(headers: headers)))
                try await outbound.write(.data(.init(data: .byteBuffer(ByteBuffer(bytes: bytes)), endStream: ends)))
            } catch is ChannelError {
                // The call was refused by its head, before its message was sent; the reply says why.
            }
            return try await body(GRPCReplies(inbound.makeAsyncIterator()))
        }
    }

    /// A message behind its length.
    static func frame(_ message: [UInt8]) -> [UInt8] {
        [0] + withUnsafeBytes(of: UInt32(message.count).bigEndian) { Array($0) } + message
    }
}

/// The messages that come back on a stream.
final class GRPCReplies {
    private var frames: NIOAsyncChannelInboundStream<HTTP2Frame.FramePayload>.AsyncIterator
    private var bytes: [UInt8] = []

    init(_ frames: NIOAsyncChannelInboundStream<HTTP2Frame.FramePayload>.AsyncIterator) {
        self.frames = frames
    }

    /// Nil when the call ended well.
    ///
    /// - Throws: ``GRPCFailure`` when it did not.
    func next() async throws -> [UInt8]? {
        while true {
            if bytes.count >= 5 {
                let length = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
                if bytes.count >= 5 + length {
                    defer { bytes.removeFirst(5 + length) }
                    return Array(bytes[5..<5 + length])
                }
            }
            guard let frame = try await frames.next(isolation: nil) else {
                throw GRPCFailure(code: GRPCFailure.broken, message: "the stream broke")
            }
            switch frame {
            case .data(let data):
                if case .byteBuffer(let buffer) = data.data { bytes += Array(buffer: buffer) }
            case .headers(let fields):
                guard let code = fields.headers.first(name: "grpc-status").flatMap({ Int($0) }) else { continue }
                guard code == 0 else {
                    throw GRPCFailure(code: code, message: fields.headers.first(name: "grpc-message") ?? "")
                }
                return nil
            case .rstStream(let code): throw GRPCFailure(code: GRPCFailure.broken, message: "reset: \(code)")
            default: continue
            }
        }
    }
}

/// A call that ended with a status of gRPC that is not 0, or that broke before it had one.
struct GRPCFailure: Error, Equatable {
    static let broken = -1
    static let invalidArgument = 3
    static let deadlineExceeded = 4
    static let notFound = 5
    static let resourceExhausted = 8
    static let unimplemented = 12

    let code: Int
    let message: String
}
