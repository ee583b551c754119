public import NIOCore
public import NIOPosix

extension StrangeConnection {
    /// A connection as bytes.
    public typealias Bytes = NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Sends everything, and reads until the server has answered what comes after it, or has closed.
    ///
    /// - Parameter connect: connects the bootstrap with an initialiser of the channel.
    /// - Returns: whether everything was answered.
    public func send(
        _ connect: (ClientBootstrap, @escaping @Sendable (any Channel) -> EventLoopFuture<Bytes>) async throws -> Bytes
    ) async throws -> Bool {
        var all = self
        let answer = all.ping()
        let bytes = all.bytes
        let channel = try await connect(ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)) { channel in
            channel.eventLoop.makeCompletedFuture { try Bytes(wrappingChannelSynchronously: channel) }
        }
        // The server may close at any time.
        let isAnswered = try? await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: bytes))
            var last: [UInt8] = []
            for try await part in inbound {
                last = (last + Array(buffer: part)).suffix(64 * 1024)
                if last.contains(answer) { return true }
            }
            return false
        }
        return isAnswered ?? false
    }
}
