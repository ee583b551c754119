import AssayCore
import AssayKit
import AssayTestSupport
import NIOCore
import NIOPosix
import NIOSSL
import Testing

/// A connection over TLS to a server of this machine, which trusts one certificate only.
struct TLSClient {
    private let outbound: NIOAsyncChannelOutboundWriter<ByteBuffer>
    private var inbound: NIOAsyncChannelInboundStream<ByteBuffer>.AsyncIterator

    /// Connects for as long as `body` runs; throws when the server shows another certificate.
    static func with<Result: Sendable>(
        port: Int, trusting identity: TestIdentity, _ body: (inout TLSClient) async throws -> Result
    ) async throws -> Result {
        let context = try identity.clientContext()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var client = TLSClient(outbound: outbound, inbound: inbound.makeAsyncIterator())
            return try await body(&client)
        }
    }

    /// The reply to a `GET` as text, of one that is short and ends with a `}`.
    mutating func get(_ path: String) async throws -> String {
        try await outbound.write(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        var text = ""
        while !text.hasSuffix("}") {
            let bytes = try #require(try await inbound.next(), "the server has closed")
            text += String(buffer: bytes)
        }
        return text
    }
}
