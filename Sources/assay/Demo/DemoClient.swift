internal import AssayKit
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Speaks App Check's protocol over HTTP, as the SDK on a device does.
///
/// On SwiftNIO, which is here for the server anyhow: Foundation's client would bring libcurl and a dozen libraries into every
/// server's memory.
struct DemoClient: Sendable {
    let base: String

    /// What the server answered.
    struct Answer: Sendable {
        let status: Int
        let decision: String
        let body: JSON

        /// A text in the body that must be there.
        func text(_ name: String) throws -> String {
            guard let text = body[name]?.string else { throw DemoFailure("the reply has no `\(name)`") }
            return text
        }

        /// Base 64 in the body that must be there.
        func bytes(_ name: String) throws -> [UInt8] {
            guard let bytes = Base64.decode(try text(name)) else { throw DemoFailure("`\(name)` is not Base 64") }
            return bytes
        }
    }

    /// A challenge; the SDK sends neither a body nor a content type.
    func challenge(_ resource: String) async throws -> [UInt8] {
        try await post("\(resource):generateAppAttestChallenge", body: nil).bytes("challenge")
    }

    func post(_ path: String, body: JSON?) async throws -> Answer {
        try await send(.POST, path, body)
    }

    func get(_ path: String) async throws -> Answer {
        try await send(.GET, path, nil)
    }

    private func send(_ method: HTTPMethod, _ path: String, _ body: JSON?) async throws -> Answer {
        let authority = base.split(separator: "/").last ?? ""
        guard let colon = authority.lastIndex(of: ":"), let port = Int(authority[colon...].dropFirst()) else {
            throw DemoFailure("\(base) is no address")
        }
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: String(authority[..<colon]), port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(
                        NIOHTTPClientResponseAggregator(maxContentLength: 1 << 20))
                    return try NIOAsyncChannel<NIOHTTPClientResponseFull, HTTPClientRequestPart>(
                        wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            let content = body?.encoded ?? []
            var headers: HTTPHeaders = ["Host": String(authority), "Connection": "close"]
            if body != nil { headers.add(name: "Content-Type", value: "application/json") }
            if method == .POST { headers.add(name: "Content-Length", value: String(content.count)) }
            var parts: [HTTPClientRequestPart] = [
                .head(HTTPRequestHead(version: .http1_1, method: method, uri: "/v1/\(path)", headers: headers))
            ]
            if !content.isEmpty { parts.append(.body(.byteBuffer(ByteBuffer(bytes: content)))) }
            // At once: the server may answer and close as soon as it has the last byte, before a further write.
            try await outbound.write(contentsOf: parts + [.end(nil)])
            for try await response in inbound {
                return Answer(
                    status: Int(response.head.status.code),
                    decision: response.head.headers.first(name: "x-assay-decision") ?? "",
                    body: try JSON.parse(response.body.map { Array($0.readableBytesView) } ?? []))
            }
            throw DemoFailure("the server closed the connection")
        }
    }
}

/// A step that did not end as it should.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
