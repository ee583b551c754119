/// Where the HTTP transport listens, and what it grants a stranger.
public struct HTTPConfiguration: Sendable, Hashable {
    /// The address or name to listen on.
    public var host: String
    /// The port to listen on; 0 takes any free one.
    public var port: Int
    public var limits: HTTPLimits

    public init(host: String = "127.0.0.1", port: Int = 8080, limits: HTTPLimits = HTTPLimits()) {
        self.host = host
        self.port = port
        self.limits = limits
    }
}
