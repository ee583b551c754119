/// A complete request as a transport received it.
public struct GatewayRequest: Sendable {
    /// The HTTP method, such as `POST`.
    public var method: String {
        didSet { route = nil }
    }
    /// The request target as in the request line, or in `:path` of HTTP/2: a path with its query, or a URL.
    public var target: String {
        didSet { route = nil }
    }
    /// The header fields, in their order.
    public var headers: HeaderFields
    /// The body without transfer coding; empty when there is none.
    public var body: [UInt8]
    /// What the method and the target lead to, if that was looked up before.
    var route: RouteTable.Outcome?

    /// Makes a request; `target` is not decoded.
    ///
    /// White space around a header's value belongs to no value (RFC 9112, section 5.1), and is removed.
    public init(method: String, target: String, headers: HeaderFields = [], body: [UInt8] = []) {
        self.method = method
        self.target = target
        self.headers = headers.trimmed
        self.body = body
    }
}
