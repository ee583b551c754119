public import AssayCore

/// A request for token exchange, as far as a consumer reads it (RFC 8693, section 2.1).
public struct TokenExchangeRequest: Sendable {
    /// The name by which the request chose the consumer, one of its ``TokenConsumer/audiences``.
    public let audience: String
    /// `resource`: URIs of the resources that the token is for.
    public let resources: [String]
    /// `scope`, word by word.
    public let scopes: [String]
    /// `requested_token_type`; nil for the consumer's default.
    public let requestedType: TokenType?
    /// The request's other parameters, which the consumer may define.
    public let fields: RequestFields

    /// Makes a request from the parameters of RFC 8693, section 2.1.
    public init(
        audience: String, resources: [String] = [], scopes: [String] = [], requestedType: TokenType? = nil,
        fields: RequestFields
    ) {
        self.audience = audience
        self.resources = resources
        self.scopes = scopes
        self.requestedType = requestedType
        self.fields = fields
    }
}
