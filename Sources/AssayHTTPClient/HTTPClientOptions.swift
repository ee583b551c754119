public import AssayCore
internal import NIOSSL

/// How an ``HTTPClientService`` behaves.
public struct HTTPClientOptions: Sendable {
    /// A proxy that speaks `CONNECT`.
    ///
    /// What goes through it stays encrypted up to the server, whose certificate is verified.
    public struct Proxy: Sendable, Hashable {
        /// The proxy's name or address.
        @Exact public var host: String
        /// The proxy's TCP port.
        public var port: Int

        /// A proxy at a host and a port; it is asked without credentials.
        public init(host: String, port: Int) {
            self.host = host
            self.port = port
        }
    }

    /// Certificates in DER that are trusted as roots in addition to those of the system.
    public var additionalTrustRoots: [[UInt8]]
    /// The most connections to one server; further calls wait for one within their time limit.
    public var connectionsPerServer: Int
    /// How long a connection may take, TLS not counted.
    public var connectTimeout: Duration
    /// How long an idle connection is kept.
    public var idleTimeout: Duration
    /// The most bytes that a server may send before the body of its response: header fields, and informational
    /// responses.
    public var headBytes: Int
    /// The most bytes that a server may send for one request, framing and trailers included.
    ///
    /// The body has a limit of its own in each request.
    public var responseBytes: Int
    /// Where connections go through; nil for none.
    ///
    /// The environment (`HTTPS_PROXY` and the like) is not asked: calls carry credentials, and a variable of a shell
    /// must not lead them astray.
    public var proxy: Proxy?

    /// Options for calls to vendors' servers; the defaults are for small JSON documents.
    public init(
        additionalTrustRoots: [[UInt8]] = [], connectionsPerServer: Int = 8, connectTimeout: Duration = .seconds(5),
        idleTimeout: Duration = .seconds(60), headBytes: Int = 64 * 1024, responseBytes: Int = 4 * 1024 * 1024,
        proxy: Proxy? = nil
    ) {
        self.additionalTrustRoots = additionalTrustRoots
        self.connectionsPerServer = connectionsPerServer
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.headBytes = headBytes
        self.responseBytes = responseBytes
        self.proxy = proxy
    }
}

extension HTTPClientOptions {
    /// The certificates of a text in PEM, for ``additionalTrustRoots``.
    ///
    /// - Throws: `OutboundFailure` (`tls_refused`) when the text has none, or has one that cannot be read.
    public static func certificates(pem text: [UInt8]) throws(OutboundFailure) -> [[UInt8]] {
        do {
            let certificates = try NIOSSLCertificate.fromPEMBytes(text)
            if !certificates.isEmpty { return try certificates.map { try $0.toDERBytes() } }
        } catch {}
        throw OutboundFailure(.tlsRefused, "it is not one or more certificates in PEM")
    }
}
