public import AssayCore

/// A use of tokens: turns a verified token into what a relying party needs, such as a decision or another token.
///
/// There is one instance for each project whose policy has a section of the consumer, made when the policy snapshot is
/// built and used by many requests at once until the next snapshot replaces it. An implementer keeps these promises:
///
/// - requests are hostile: no input may crash, block or grow the process;
/// - a refusal is a ``ConsumerVerdict/refused(_:detail:)`` with a reason that the descriptor lists;
/// - an error that prevents a decision is thrown, and never grants anything;
/// - time, randomness, storage, secrets and calls to other servers come from the ``PluginHost`` or the
///   ``ConsumerContext``.
///
/// The kernel does the rest: it finds the instance, verifies the token and the actor, checks what the policy demands of
/// both, consumes the token, and keeps audit, metrics, deadlines and limits.
public protocol TokenConsumer: Sendable {
    /// The consumer's own section of a policy. The kernel's keys in it are no part of the type.
    associatedtype Configuration: Decodable & Sendable

    /// The consumer's name, reasons, facts and limits.
    static var descriptor: PluginDescriptor { get }

    /// The methods that clients call.
    static var methods: [ConsumerMethod<Self>] { get }

    /// Makes the instance for one project, and checks the rules that decoding does not check.
    ///
    /// - Throws: the errors in the section, by the paths of their keys.
    init(_ configuration: Configuration, scope: ConsumerScope, host: PluginHost) throws(ConfigurationError)

    /// The names by which requests choose the instance: the `audience` or the `resource` of a token exchange, and the
    /// field of a method with ``ConsumerSelection/audience(_:)``. Each name belongs to only one instance of a program.
    var audiences: [String] { get }

    /// What parts of the section demand of tokens, for tools that explain policies; none, the default, where each request has
    /// the demand of the section's `tokens`.
    ///
    /// A part's demand is the one that a ``PreparedRequest`` for it has.
    var demands: [PartDemand] { get }

    /// The instance's work between calls; nil, the default, for none.
    var maintenance: Maintenance? { get }

    /// Questionable settings that are no reason to refuse the section; none by default.
    var warnings: [ConfigurationWarning] { get }

    /// What is wrong at present although the instance answers, such as a list that became too old, in words for an operator; nil, the
    /// default, for nothing.
    ///
    /// `/readyz` is degraded meanwhile. It is asked whenever somebody looks, so that it must not wait.
    var problem: String? { get }
}

extension TokenConsumer {
    /// The section's `tokens` is the demand of each request.
    public var demands: [PartDemand] { [] }
    /// No maintenance.
    public var maintenance: Maintenance? { nil }
    /// No warnings.
    public var warnings: [ConfigurationWarning] { [] }
    /// No problem.
    public var problem: String? { nil }
}

/// What a part of a consumer's section demands of tokens.
public struct PartDemand: Sendable, Hashable {
    /// The service that requests are counted for (``PreparedRequest``).
    @Exact public private(set) var service: String
    /// Which requests of the service it is for, in words, such as `POST /payments/*`; nil for all that no other part has.
    @Exact public private(set) var part: String?
    /// What they demand.
    public var demand: TokenDemand
    /// What they need besides a token, in words; nil for nothing.
    @Exact public private(set) var further: String?
    /// Why they are refused in any case, also with a token that meets the demand; nil for no such reason.
    public let refusal: Reason?
    /// The levels of the demand that are taken from the service.
    public let inherits: ServiceLevelSet
    /// Whether administrators may change the levels of the service; only the part that is nil says it.
    public let isEditable: Bool
    /// Where in its section the part is.
    public let path: [ConfigurationError.Component]

    /// Makes a demand.
    public init(
        service: String, part: String? = nil, demand: TokenDemand, further: String? = nil, refusal: Reason? = nil,
        inherits: ServiceLevelSet = [], isEditable: Bool = false, at path: [ConfigurationError.Component] = []
    ) {
        self.service = service
        self.part = part
        self.demand = demand
        self.further = further
        self.refusal = refusal
        self.inherits = inherits
        self.isEditable = isEditable
        self.path = path
    }
}

/// The levels of a demand that are taken from a service as a whole.
///
/// A part whose demand inherits a level is a part of a service of its project: the service's level is the one of the part that is
/// for all other requests, and administrators may change it if that part allows it.
public struct ServiceLevelSet: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ``TokenDemand/enforcement``.
    public static let enforcement = ServiceLevelSet(rawValue: 1)
    /// ``TokenDemand/replayProtection``.
    public static let replayProtection = ServiceLevelSet(rawValue: 2)
    /// All levels.
    public static let all: ServiceLevelSet = [.enforcement, .replayProtection]
}

/// The project that an instance of a consumer is made for, with its settings.
public struct ConsumerScope: Sendable, Hashable {
    /// The project whose policy names the consumer.
    public let project: ProjectIdentity
    /// The `iss` of the project's tokens.
    @Exact public private(set) var issuer: String
    /// The project's apps and OAuth clients.
    public let apps: [AppIdentity]
    /// Whether the section's `actors` names an issuer; without one, no request has a ``ConsumerContext/actor``.
    public let knowsActors: Bool
    /// The demand of the section's `tokens`, which demands in parts of the section refine.
    public let tokens: TokenDemand

    /// Makes a scope; tests use it.
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
