public import AssayCore

/// A consumer's decision.
@nonexhaustive public enum ConsumerVerdict: Sendable {
    /// The request is granted.
    case granted(ConsumerReply)
    /// The request is refused, by a reason that the descriptor lists. Clients are told nothing more.
    ///
    /// - `detail`: what helps an operator; never a token.
    /// - `facts`: for the record, under names that the descriptor lists. They are what the client claims: one whose value is not of
    ///   its type is dropped, and so is one of a name that the request has already (``PreparedRequest``).
    case refused(Reason, detail: String? = nil, facts: [Fact] = [])
}

/// The reply to a granted request.
public struct ConsumerReply: Sendable {
    /// The reply message, an object.
    public var message: JSON
    /// The facts for the record, under names that the consumer's descriptor lists.
    public var facts: [Fact]
    /// Why the request would be refused if it were `ENFORCED`, beside what is wrong with its token; nil if it would not.
    public var unenforced: Reason?
    /// What helps an operator beside that reason; never a token.
    public var unenforcedDetail: String?

    /// Makes a reply; `unenforced` is the reason for which the request would have been refused.
    public init(_ message: JSON, facts: [Fact] = [], unenforced: Reason? = nil) {
        self.message = message
        self.facts = facts
        self.unenforced = unenforced
    }
}

/// A consumer's decision about a token exchange (RFC 8693, section 2.2.1).
@nonexhaustive public enum ExchangeVerdict: Sendable {
    case granted(ExchangedToken)
    /// As with ``ConsumerVerdict/refused(_:detail:facts:)``.
    case refused(Reason, detail: String? = nil, facts: [Fact] = [])
}

/// The token that a token exchange issues.
public struct ExchangedToken: Sendable {
    /// `access_token`.
    public var text: String
    /// `issued_token_type`.
    public var type: TokenType
    /// `token_type`: how the token is used, such as `Bearer` or `DPoP`; `N_A` for a token that is not an access token.
    public var use: String
    /// `expires_in`.
    public var lifetime: Duration
    /// Further members of the reply.
    public var fields: [ReplyField]
    /// The facts for the record, under names that the consumer's descriptor lists.
    public var facts: [Fact]

    /// Makes a token for the reply; `use` is its `token_type` (RFC 8693, section 2.2.1).
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

/// The type of a token, as a URI (RFC 8693, section 3).
public struct TokenType: Sendable, Hashable {
    /// The URI of the type.
    @Exact public private(set) var uri: String

    /// Makes a type from its URI.
    public init(_ uri: String) {
        self.uri = uri
    }

    /// An OAuth 2.0 access token.
    public static let accessToken = TokenType("urn:ietf:params:oauth:token-type:access_token")
    /// An OpenID Connect ID token.
    public static let idToken = TokenType("urn:ietf:params:oauth:token-type:id_token")
    /// A JWT for any other use.
    public static let jwt = TokenType("urn:ietf:params:oauth:token-type:jwt")
}
