/// What a consumer decided.
public enum ConsumerVerdict: Sendable {
    /// What was asked for is given.
    case granted(ConsumerReply)
    /// It is not given, for a reason that the descriptor lists. Clients learn no more than that.
    ///
    /// - Parameter detail: what helps an operator; never a token.
    case refused(Reason, detail: String? = nil)
}

/// What a consumer gives.
public struct ConsumerReply: Sendable {
    /// The reply message, an object.
    public var message: JSON
    /// What is put on record, under names that the consumer's descriptor lists.
    public var facts: [Fact]
    /// Why the request would have been refused, had the policy not said `UNENFORCED` of it; nil where nothing was wrong. Of
    /// the request's own token the kernel knows that itself.
    public var unenforced: Reason?

    public init(_ message: JSON, facts: [Fact] = [], unenforced: Reason? = nil) {
        self.message = message
        self.facts = facts
        self.unenforced = unenforced
    }
}

/// What a consumer gives for a token by token exchange (RFC 8693, section 2.2.1).
public enum ExchangeVerdict: Sendable {
    case granted(ExchangedToken)
    /// As with ``ConsumerVerdict/refused(_:detail:)``.
    case refused(Reason, detail: String? = nil)
}

/// What a token was exchanged for.
public struct ExchangedToken: Sendable {
    /// `access_token`.
    public var text: String
    /// `issued_token_type`.
    public var type: TokenType
    /// `token_type`: how the token is used, such as `Bearer` or `DPoP`; `N_A` for what is no access token.
    public var use: String
    /// `expires_in`.
    public var lifetime: Duration
    /// Further members of the reply.
    public var fields: [ReplyField]
    /// What is put on record, under names that the consumer's descriptor lists.
    public var facts: [Fact]

    public init(
        _ text: String, type: TokenType = .jwt, use: String = "Bearer", lifetime: Duration, fields: [ReplyField] = [],
        facts: [Fact] = []
    ) {
        self.text = text
        self.type = type
        self.use = use
        self.lifetime = lifetime
        self.fields = fields
        self.facts = facts
    }
}

/// What kind of token one is (RFC 8693, section 3).
public struct TokenType: Sendable, Hashable {
    @Exact public private(set) var uri: String

    public init(_ uri: String) {
        self.uri = uri
    }

    public static let accessToken = TokenType("urn:ietf:params:oauth:token-type:access_token")
    public static let idToken = TokenType("urn:ietf:params:oauth:token-type:id_token")
    public static let jwt = TokenType("urn:ietf:params:oauth:token-type:jwt")
}
