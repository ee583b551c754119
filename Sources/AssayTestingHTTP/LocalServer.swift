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
        let scheme = identity == nil ? "http" : "https"
        let open = OpenChannels()
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    open.add(channel)
                    let pipeline = channel.pipeline.syncOperations
                    if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(AnsweringHandler(scheme, answering))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        let result: Result<Value, any Error>
        do {
            result = .success(try await body(server.localAddress?.port ?? port))
        } catch {
            result = .failure(error)
        }
        try? await server.close()
        await open.close()
        return try result.get()
    }

    private static func context(_ identity: Identity) throws -> NIOSSLContext {
        let certificates = try identity.certificates.map { try NIOSSLCertificate(bytes: $0, format: .der) }
        let key = try NIOSSLPrivateKey(bytes: Array(identity.privateKeyPEM.utf8), format: .pem)
        return try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key)))
    }
}
