public import AssayHTTP

/// Where the transport listens, and what it tells the backend.
public struct ExtAuthzConfiguration: Sendable {
    /// Where to listen.
    public enum Address: Sendable, Hashable {
        /// An address or a name, and a port; 0 takes any free one.
        case host(String, port: Int)
        /// The path of a Unix domain socket.
        case unixSocket(String)
    }

    public var address: Address
    /// What is shown over TLS; nil to serve without.
    public var certificate: ServerCertificate?
    /// Whether the backend gets the header with the token. By default it does not: it has no use for it, and cannot leak it.
    public var forwardsToken: Bool
    public var limits: ExtAuthzLimits

    public init(
        address: Address, certificate: ServerCertificate? = nil, forwardsToken: Bool = false,
        limits: ExtAuthzLimits = ExtAuthzLimits()
    ) {
        self.address = address
        self.certificate = certificate
        self.forwardsToken = forwardsToken
        self.limits = limits
    }
}

extension ExtAuthzConfiguration.Address: CustomStringConvertible {
    /// `host:port`, with an IPv6 address in brackets, or `unix:` and a path.
    public var description: String {
        switch self {
        case .host(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}
