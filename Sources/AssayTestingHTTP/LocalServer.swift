public import AssayCore
public import AssayTesting
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL

/// A simulated server behind a socket on this machine, for programs that must be tested from outside.
///
///     try await LocalServer { apple.answer($0) }.run { port in … }
public struct LocalServer: Sendable {
    /// A certificate and its key, with which the server speaks TLS.
    public struct Identity: Sendable {
        /// The server's own certificate first, in DER.
        public var certificates: [[UInt8]]
        /// The private key of the first certificate, in PEM.
        public var privateKeyPEM: String

        /// An identity; nothing checks that the key fits the certificate.
        public init(certificates: [[UInt8]], privateKeyPEM: String) {
            self.certificates = certificates
            self.privateKeyPEM = privateKeyPEM
        }
    }

    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private static let bodyLimit = 1 << 20

    private let identity: Identity?
    private let answering: @Sendable (OutboundRequest) async -> ScriptedAnswer

    /// - Parameters:
    ///   - identity: nil for plain HTTP.
    ///   - answer: what to do with a request; its URL has the path as it came.
    public init(
        identity: Identity? = nil, answering answer: @escaping @Sendable (OutboundRequest) async -> ScriptedAnswer
    ) {
        self.identity = identity
        answering = answer
    }

    /// Serves on `127.0.0.1` while `body` runs, which gets the port.
    ///
    /// - `port`: 0 for a free one.
    public func run<Value: Sendable>(
        port: Int = 0, _ body: @escaping @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let context = try identity.map { try Self.context($0) }
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.configureHTTPServerPipeline()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        let listened = server.channel.localAddress?.port ?? port
        return try await server.executeThenClose { connections in
            try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask { try await body(listened) }
                group.addTask {
                    do {
                        try await withThrowingDiscardingTaskGroup { group in
                            for try await connection in connections {
                                // An error of one connection does not affect the others.
                                group.addTask { try? await serve(connection, port: listened) }
                            }
                        }
                    } catch  where Task.isCancelled {
                        // What `run` returns then is up to `body`.
                    }
                    return nil
                }
                defer { group.cancelAll() }
                while let value = try await group.next() {
                    if let value { return value }
                }
                throw CancellationError()
            }
        }
    }

    private func serve(_ connection: Connection, port: Int) async throws {
        try await connection.executeThenClose { inbound, outbound in
            var head: HTTPRequestHead?
            var body: [UInt8] = []
            for try await part in inbound {
                switch part {
                case .head(let received): (head, body) = (received, [])
                case .body(let bytes):
                    body.append(contentsOf: bytes.readableBytesView)
                    guard body.count <= Self.bodyLimit else { return }
                case .end:
                    guard let head, let request = request(head, body, port: port) else { return }
                    switch await answering(request) {
                    case .respond(let response):
                        try await write(response, outbound, length: response.body.count)
                        try await outbound.write(.end(nil))
                    case .stall(let response):
                        try await write(response, outbound, length: response.body.count + 1)
                    case .silence, .proceed: break
                    case .hangUp: return
                    }
                }
            }
        }
    }

    private func write(
        _ response: OutboundResponse, _ outbound: NIOAsyncChannelOutboundWriter<HTTPServerResponsePart>, length: Int
    ) async throws {
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        if response.status != 304, response.header("transfer-encoding") == nil {
            headers.replaceOrAdd(name: "content-length", value: "\(length)")
        }
        let status = HTTPResponseStatus(statusCode: response.status)
        try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: status, headers: headers)))
        if !response.body.isEmpty { try await outbound.write(.body(.byteBuffer(ByteBuffer(bytes: response.body)))) }
    }

    private func request(_ head: HTTPRequestHead, _ body: [UInt8], port: Int) -> OutboundRequest? {
        guard let method = OutboundRequest.Method(rawValue: head.method.rawValue),
            let url = EndpointURL("\(identity == nil ? "http" : "https")://localhost:\(port)\(head.uri)")
        else { return nil }
        return OutboundRequest(
            method, url, headers: head.headers.map { OutboundHeader($0.name, $0.value) }, body: body)
    }

    private static func context(_ identity: Identity) throws -> NIOSSLContext {
        let certificates = try identity.certificates.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        let key = try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
    }
}
