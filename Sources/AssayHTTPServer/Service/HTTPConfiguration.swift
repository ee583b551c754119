internal import AssayCore
public import AssayHTTP
public import AssayKit

/// Where the HTTP server listens, and what strangers may do.
public struct HTTPConfiguration: Sendable {
    /// The address of the listener.
    public var address: ListenerAddress
    /// The limits on what one client can make the server hold or wait for.
    public var limits: HTTPLimits
    /// The web pages whose scripts may call methods that demand no permission.
    public var origins: AllowedOrigins
    /// The server's certificate for TLS; nil to serve without TLS.
    public var certificate: ServerCertificate?
    /// The limit on what all connections hold together.
    ///
    /// Listeners of one process share it.
    public var budget: TransportBudget
    /// How many of the requests that never become calls are logged one by one.
    public var records = RecordLimits()
    /// The proxies whose `X-Forwarded-For` names the client; none by default, since a client can send that header
    /// itself.
    public var trustedProxies: TrustedProxies

    /// Makes a configuration; the default address is 127.0.0.1, port 8080.
    public init(
        address: ListenerAddress = .host("127.0.0.1", port: 8080), limits: HTTPLimits = HTTPLimits(),
        origins: AllowedOrigins = .any, certificate: ServerCertificate? = nil,
        budget: TransportBudget = TransportBudget(), trustedProxies: TrustedProxies = .none
    ) {
        self.address = address
        self.limits = limits
        self.origins = origins
        self.certificate = certificate
        self.budget = budget
        self.trustedProxies = trustedProxies
    }

    /// The gateway's part of the configuration.
    var gateway: HTTPGateway.Configuration {
        HTTPGateway.Configuration(
            origins: origins, trustedProxies: trustedProxies, bodyBytes: limits.bodyBytes, records: records)
    }
}
