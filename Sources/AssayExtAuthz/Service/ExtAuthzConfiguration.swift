internal import AssayCore
public import AssayHTTPServer
public import AssayKit

/// Where the transport listens, and what it forwards to the backend.
public struct ExtAuthzConfiguration: Sendable {
    /// The address of the listener.
    public var address: ListenerAddress
    /// The server's certificate for TLS, and the accepted client certificates; nil to serve without TLS.
    public var certificate: ServerCertificate?
    /// Whether the backend receives the header with the token.
    ///
    /// By default it does not: it does not need the token, and so cannot leak it.
    public var forwardsToken: Bool
    /// The limits on what one client can make the transport hold or wait for.
    public var limits: ExtAuthzLimits
    /// The limit on what all calls hold together.
    ///
    /// Listeners of one program share it.
    public var budget: TransportBudget
    /// How many checks that cannot be read are logged one by one; the others are summed.
    public var records = RecordLimits()

    /// Makes a configuration for an address.
    public init(
        address: ListenerAddress, certificate: ServerCertificate? = nil, forwardsToken: Bool = false,
        limits: ExtAuthzLimits = ExtAuthzLimits(), budget: TransportBudget = TransportBudget()
    ) {
        self.address = address
        self.certificate = certificate
        self.forwardsToken = forwardsToken
        self.limits = limits
        self.budget = budget
    }
}

/// The reason why the transport cannot serve.
public struct ExtAuthzError: Error, Sendable, CustomStringConvertible {
    /// The kind of problem.
    public enum Code: String, Sendable {
        /// The handler has no method that decides about the requests of a proxy.
        case missingMethod = "missing_method"
        /// The handler has several such methods.
        case severalMethods = "several_methods"
    }

    /// The kind of problem.
    public let code: Code
    /// What went wrong, for an operator.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
