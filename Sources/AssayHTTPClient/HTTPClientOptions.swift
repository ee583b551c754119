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
    /// How an operator gives ``additionalTrustRoots``, such as `--ca FILE`, for messages; nil where nobody can.
    package var authorityOption: String?
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
    private static let authorityFileBytes = 1 << 20

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

    /// Trusts the authorities of a file in addition to those of the system.
    ///
    /// - Parameters:
    ///   - file: certificates in PEM; nil for none.
    ///   - option: how an operator gives the file, for messages.
    /// - Throws: `SecretError` when it cannot be read or has no certificate.
    package mutating func trust(_ file: String?, option: String) throws(SecretError) {
        authorityOption = option
        guard let file else { return }
        let text = try SecretFile.read(file, limit: Self.authorityFileBytes, isSecret: false)
        do throws(OutboundFailure) {
            additionalTrustRoots += try Self.certificates(pem: text)
        } catch {
            throw SecretError(
                "\(file): \(error.detail); \(option) takes the authority's certificate, which begins with "
                    + "-----BEGIN CERTIFICATE-----")
        }
    }

    /// What is trusted, for messages.
    struct Authorities: Hashable {
        let option: ExactText?
        let areGiven: Bool

        /// What to do about a certificate of another authority.
        var advice: String {
            guard let option else {
                return "add the authority to those of this system, or correct the server's certificate"
            }
            return areGiven
                ? "neither this system nor \(option) has this authority; is it the right file?"
                : "give the authority's certificate with \(option)"
        }
    }

    /// What a failure of TLS means, with what to do, where another client than ``HTTPClientService`` has seen it; nil for
    /// another error.
    package func words(of error: any Error, calling host: String) -> String? {
        TLSFault(error)?.words(calling: host, trusting: authorities)
    }

    var authorities: Authorities {
        Authorities(option: authorityOption.map { ExactText($0) }, areGiven: !additionalTrustRoots.isEmpty)
    }
}
