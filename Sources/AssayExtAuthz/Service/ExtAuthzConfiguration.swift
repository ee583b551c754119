internal import AssayCore
public import AssayHosting
public import AssayTransport

/// Where the transport listens, and what it tells the backend.
public struct ExtAuthzConfiguration: Sendable {
    /// Where connections are taken.
    public var address: ListenerAddress
    /// What is shown over TLS, and which clients' certificates are accepted; nil to serve without.
    public var certificate: ServerCertificate?
    /// Whether the backend gets the header with the token.
    ///
    /// By default it does not: it has no use for it, and cannot leak it.
    public var forwardsToken: Bool
    /// What one client can make the transport hold or wait for.
    public var limits: ExtAuthzLimits
    /// What all calls may hold together.
    ///
    /// A program with several listeners gives them the same one.
    public var budget: TransportBudget
    /// How many checks that cannot be read are logged one by one; the others are summed.
    public var records = RecordLimits()

    /// Listens on an address.
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

/// Why the transport cannot serve.
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
