import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPCompression

extension RawReply {
    /// The body, which has to be compressed with gzip, as it was before.
    public var decompressed: [UInt8] {
        get throws {
            let channel = EmbeddedChannel(handler: NIOHTTPResponseDecompressor(limit: .size(1 << 20)))
            var head = HTTPResponseHead(version: .http1_1, status: .ok)
            head.headers = ["content-encoding": "gzip", "content-length": "\(body.count)"]
            try channel.writeInbound(HTTPClientResponsePart.head(head))
            try channel.writeInbound(HTTPClientResponsePart.body(ByteBuffer(bytes: body)))
            try channel.writeInbound(HTTPClientResponsePart.end(nil))
            var bytes: [UInt8] = []
            while let part = try channel.readInbound(as: HTTPClientResponsePart.self) {
                if case .body(let buffer) = part { bytes += buffer.readableBytesView }
            }
            _ = try channel.finish()
            return bytes
        }
    }
}
