#if Simulator
internal import AssayCore
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
        let headers: HTTPHeaders
        /// An empty object where there is no body.
        let body: JSON

        var decision: String { header("x-assay-decision") }

        /// A header, empty where it is not there.
        func header(_ name: String) -> String { headers.first(name: name) ?? "" }

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
        try await post(target: "/v1/\(path)", body: body)
    }

    func post(target: String, headers: HTTPHeaders = [:], body: JSON?) async throws -> Answer {
        guard let body else { return try await send(.POST, target, headers) }
        return try await send(.POST, target, headers, "application/json", body.encoded)
    }

    /// A request to an endpoint of OAuth.
    func post(target: String, form: KeyValuePairs<String, String>) async throws -> Answer {
        let text = form.map { "\($0.key)=\(DemoClient.escaped($0.value))" }.joined(separator: "&")
        return try await send(.POST, target, [:], "application/x-www-form-urlencoded", Array(text.utf8))
    }

    func get(_ path: String) async throws -> Answer {
        try await get(target: "/v1/\(path)")
    }

    func get(target: String, headers: HTTPHeaders = [:]) async throws -> Answer {
        try await send(.GET, target, headers)
    }

    private func send(
        _ method: HTTPMethod, _ target: String, _ fields: HTTPHeaders, _ type: String? = nil, _ content: [UInt8] = []
    ) async throws -> Answer {
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
            var headers: HTTPHeaders = ["Host": String(authority), "Connection": "close"]
            headers.add(contentsOf: fields)
            if let type { headers.add(name: "Content-Type", value: type) }
            if method == .POST { headers.add(name: "Content-Length", value: String(content.count)) }
            var parts: [HTTPClientRequestPart] = [
                .head(HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: headers))
            ]
            if !content.isEmpty { parts.append(.body(.byteBuffer(ByteBuffer(bytes: content)))) }
            // At once: the server may answer and close as soon as it has the last byte, before a further write.
            try await outbound.write(contentsOf: parts + [.end(nil)])
            for try await response in inbound {
                let body = response.body.map { Array($0.readableBytesView) } ?? []
                return Answer(
                    status: Int(response.head.status.code), headers: response.head.headers,
                    body: body.isEmpty ? [:] : try JSON.parse(body))
            }
            throw DemoFailure("the server closed the connection")
        }
    }

    /// Encodes a value for a form: letters and digits stay, most other characters become their codes.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar))
            return isPlain || "-._".utf8.contains(byte) ? String(scalar) : "%\(Hex.encode([byte]))"
        }.joined()
    }
}

/// A step that did not end as it should.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
#endif
