public import AssayKit

/// Where the HTTP transport listens, and what it grants a stranger.
public struct HTTPConfiguration: Sendable {
    /// The address or name to listen on.
    public var host: String
    /// The port to listen on; 0 takes any free one.
    public var port: Int
    public var limits: HTTPLimits
    /// The web pages whose scripts may call methods that demand no permission.
    public var origins: AllowedOrigins
    /// What is shown over TLS; nil to serve without.
    public var certificate: ServerCertificate?
    /// What all connections may hold together. Listeners of one process share one.
    public var budget: TransportBudget
    /// How many of the requests that never become calls are logged one by one.
    public var records = RecordLimits()
    /// The proxies whose `X-Forwarded-For` says who a client is; none by default, since a client can send that, too.
    public var trustedProxies: [IPRange]

    public init(
        host: String = "127.0.0.1", port: Int = 8080, limits: HTTPLimits = HTTPLimits(),
        origins: AllowedOrigins = .any, certificate: ServerCertificate? = nil,
        budget: TransportBudget = TransportBudget(), trustedProxies: [IPRange] = []
    ) {
        self.host = host
        self.port = port
        self.limits = limits
        self.origins = origins
        self.certificate = certificate
        self.budget = budget
        self.trustedProxies = trustedProxies
    }
}
