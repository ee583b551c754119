internal import AssayCore
public import AssayHosting
public import AssayHTTP
public import AssayTransport

/// Where the HTTP server listens, and what it grants strangers.
public struct HTTPConfiguration: Sendable {
    /// Where connections are taken.
    public var address: ListenerAddress
    /// What one client can make the server hold or wait for.
    public var limits: HTTPLimits
    /// The web pages whose scripts may call methods that demand no permission.
    public var origins: AllowedOrigins
    /// What is shown over TLS; nil to serve without.
    public var certificate: ServerCertificate?
    /// What all connections may hold together.
    ///
    /// Listeners of one process share one.
    public var budget: TransportBudget
    /// How many of the requests that never become calls are logged one by one.
    public var records = RecordLimits()
    /// The proxies whose `X-Forwarded-For` names the client; none by default, since a client can send that header, too.
    public var trustedProxies: TrustedProxies

    /// Listens on an address; 127.0.0.1, port 8080, unless given.
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

    /// What concerns the gateway.
    var gateway: HTTPGateway.Configuration {
        HTTPGateway.Configuration(
            origins: origins, trustedProxies: trustedProxies, bodyBytes: limits.bodyBytes, records: records)
    }
}
