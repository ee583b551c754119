internal import NIOCore
internal import NIOEmbedded
internal import NIOHTTP1
internal import NIOHTTPCompression

/// Compresses whole bodies (RFC 1952).
///
/// It borrows a handler that compresses the requests of clients, on a channel that leads nowhere: its package hands out
/// no function, and its handler for replies, in a connection's pipeline, would compress what must not be, and knows no tags.
enum GZip {
    /// A shorter body gains nothing: it is a packet either way.
    static let shortest = 1024

    /// - Returns: nil if it cannot be done.
    static func compress(_ body: [UInt8]) -> [UInt8]? {
        let channel = EmbeddedChannel(handler: NIOHTTPRequestCompressor(encoding: .gzip))
        defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
        do {
            channel.write(
                HTTPClientRequestPart.head(HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")), promise: nil)
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: body))), promise: nil)
            channel.write(HTTPClientRequestPart.end(nil), promise: nil)
            channel.flush()
            while let part = try channel.readOutbound(as: HTTPClientRequestPart.self) {
                if case .body(.byteBuffer(let compressed)) = part { return Array(compressed.readableBytesView) }
            }
        } catch {
            // Something else than what was written came out.
        }
        return nil
    }
}
