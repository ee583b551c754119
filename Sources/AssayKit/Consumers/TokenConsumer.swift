/// What tokens are good for: turns a verified token into what a relying party needs, such as a decision or another token.
///
/// There is one instance for each project whose policy has a section of the consumer, made when the policy snapshot is
/// built and used by many requests at once until the next snapshot replaces it. An implementer keeps these promises:
///
/// - requests are hostile: no input may crash, block or grow the process;
/// - what may not be given is a ``ConsumerVerdict/refused(_:detail:)`` with a reason that the descriptor lists;
/// - whatever prevents a decision is thrown, and never becomes something granted;
/// - time, randomness, storage, secrets and calls to other servers come from the ``PluginHost`` or the ``ConsumerContext``.
///
/// The kernel does the rest: it finds the instance, verifies the token and the actor, checks what the policy demands of
/// both, consumes the token, and keeps audit, metrics, deadlines and limits.
public protocol TokenConsumer: Sendable {
    /// The consumer's own section of a policy. The kernel's keys in it are no part of the type.
    associatedtype Configuration: Decodable & Sendable

    /// What the consumer says of itself.
    static var descriptor: PluginDescriptor { get }

    /// The methods that clients call.
    static var methods: [ConsumerMethod<Self>] { get }

    /// Makes the instance for one project, and checks what decoding alone could not.
    ///
    /// - Throws: what is wrong in the section, by the path of its key.
    init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) throws(ConfigurationError)

    /// The names that requests choose the instance by: the `audience` or the `resource` of a token exchange, and the field
    /// of a method with ``ConsumerSelection/audience(_:)``. No two instances of a program have one in common.
    var audiences: [String] { get }
}

/// What an instance of a consumer is for.
public struct ConsumerScope: Sendable, Hashable {
    public let project: ProjectIdentity
    /// The `iss` of the project's tokens.
    @Exact public private(set) var issuer: String
    /// The project's apps and OAuth clients.
    public let apps: [AppIdentity]
    /// Whether the section's `actors` names anybody: without that no request has a ``ConsumerContext/actor``, and what
    /// depends on one is never given.
    public let knowsActors: Bool
    /// What the section's `tokens` demands. What a part of the section says of tokens stands under it.
    public let tokens: TokenDemand

    public init(
        project: ProjectIdentity, issuer: String, apps: [AppIdentity], knowsActors: Bool,
        tokens: TokenDemand = TokenDemand()
    ) {
        self.project = project
        self.issuer = issuer
        self.apps = apps
        self.knowsActors = knowsActors
        self.tokens = tokens
    }
}
