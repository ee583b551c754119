public import AssayHTTP
public import AssayKit

/// Where the transport listens, and what it tells the backend.
public struct ExtAuthzConfiguration: Sendable {
    /// Where to listen.
    public enum Address: Sendable {
        /// An address or a name, and a port; 0 takes any free one.
        case host(String, port: Int)
        /// The path of a Unix domain socket.
        case unixSocket(String)
    }

    public var address: Address
    /// What is shown over TLS, and which clients' certificates are accepted; nil to serve without.
    public var certificate: ServerCertificate?
    /// Whether the backend gets the header with the token. By default it does not: it has no use for it, and cannot leak it.
    public var forwardsToken: Bool
    public var limits: ExtAuthzLimits
    /// What all calls may hold together. A program with several listeners gives them the same one.
    public var budget: TransportBudget
    /// The permissions of the file of a Unix domain socket. By default only the process's own user may connect.
    public var socketMode: UInt16
    /// How many checks that cannot be read are logged one by one; the others are summed.
    public var records = RecordLimits()

    public init(
        address: Address, certificate: ServerCertificate? = nil, forwardsToken: Bool = false,
        limits: ExtAuthzLimits = ExtAuthzLimits(), budget: TransportBudget = TransportBudget(),
        socketMode: UInt16 = 0o600
    ) {
        self.address = address
        self.certificate = certificate
        self.forwardsToken = forwardsToken
        self.limits = limits
        self.budget = budget
        self.socketMode = socketMode
    }
}

extension ExtAuthzConfiguration.Address: CustomStringConvertible {
    /// `host:port`, with an IPv6 address in brackets, or `unix:` and a path.
    public var description: String {
        switch self {
        case .host(let host, let port): host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unixSocket(let path): "unix:\(path)"
        }
    }
}
