public import AssayCore

/// A plugin's description of itself, read once before any policy.
public struct PluginDescriptor: Sendable {
    /// The version of the contract that this kit describes.
    public static let currentContract = 3
    /// The oldest version that is accepted, with a warning; a plugin for another one is refused at start.
    public static let oldestContract = 2

    /// The name in policies, in audit records and in the tokens' `provider` claim: `app_attest`, `debug`.
    public let name: String
    /// The version of the contract that the plugin was built for; by default that of the kit that it is compiled with.
    public let contract: Int
    /// What it is a description of; nil in the form of contract 2.
    package let kind: PluginKind?
    /// The plugin's own version, in any form; empty when it has none.
    public let version: String
    /// One sentence for people.
    public let summary: String
    /// Whether operators can rely on the plugin's configuration and behaviour.
    public let stability: PluginStability
    /// What the plugin proves and trusts; nil when it does not say.
    public let posture: SecurityPosture?
    /// Every reason that the plugin may refuse with; a verdict with another one counts as a fault of the plugin.
    public let reasons: [Reason]
    /// The facts that the plugin's verdicts and answers may carry; another one, or a value that is not of the fact's
    /// type, counts as a fault of the plugin.
    public let facts: [FactName]
    /// The metrics of the plugin; see `Meter`.
    public let metrics: [Metric]
    /// What one call may use, and how many calls there may be at a time.
    public let limits: PluginLimits
    /// The threads that the plugin's calls run on.
    public let execution: PluginExecution
    /// Of a consumer: `typ` of the JWTs that it signs with ``ConsumerTokens/sign(type:claims:)``; never `JWT`.
    public let tokenTypes: [String]
    /// Of a provider: whether it is for development, as debug tokens are: its tokens are accepted only where a policy says
    /// so.
    public let isForDevelopment: Bool
    /// Of a consumer: whether it accepts tokens of OAuth clients by default.
    ///
    /// Such a token proves an app to an authorization server, so a consumer that protects anything else should not
    /// accept it.
    public let takesOAuthClients: Bool
    /// Of a provider: the sections of an app that it reads, such as Apple's names for the app.
    public let platforms: [any PlatformSection.Type]
    /// Responses that the plugin makes itself, by throwing a `CallFailure` with one of its reasons; for the list of
    /// reasons.
    ///
    /// The kernel makes the responses to all other refusals.
    public let answers: [CallFailure]

    /// The largest piece of evidence in bytes; see ``PluginLimits/evidence``.
    public var evidenceLimit: Int { limits.evidence }

    /// Describes a provider; the defaults suit most providers.
    public static func provider(
        name: String, contract: Int = currentContract, version: String = "", summary: String,
        stability: PluginStability = .experimental, posture: SecurityPosture? = nil, reasons: [Reason],
        facts: [FactName] = [], metrics: [Metric] = [], limits: PluginLimits = PluginLimits(),
        execution: PluginExecution = .isolated, isForDevelopment: Bool = false,
        platforms: [any PlatformSection.Type] = [], answers: [CallFailure] = []
    ) -> PluginDescriptor {
        PluginDescriptor(
            .provider, name, contract, version, summary, stability, posture, reasons, facts, metrics, limits,
            execution, answers, isForDevelopment: isForDevelopment, platforms: platforms)
    }

    /// Describes a consumer; the defaults suit most consumers.
    public static func consumer(
        name: String, contract: Int = currentContract, version: String = "", summary: String,
        stability: PluginStability = .experimental, posture: SecurityPosture? = nil, reasons: [Reason],
        facts: [FactName] = [], metrics: [Metric] = [], limits: PluginLimits = PluginLimits(),
        execution: PluginExecution = .isolated, tokenTypes: [String] = [], takesOAuthClients: Bool = false,
        answers: [CallFailure] = []
    ) -> PluginDescriptor {
        PluginDescriptor(
            .consumer, name, contract, version, summary, stability, posture, reasons, facts, metrics, limits,
            execution, answers, tokenTypes: tokenTypes, takesOAuthClients: takesOAuthClients)
    }

    /// Describes a plugin in the form of contract 2, in which providers and consumers had one form.
    @available(*, deprecated, message: "use PluginDescriptor.provider(…) or PluginDescriptor.consumer(…)")
    public init(
        name: String, contract: Int, version: String = "", summary: String, stability: PluginStability = .experimental,
        posture: SecurityPosture? = nil, reasons: [Reason], facts: [FactName] = [], metrics: [Metric] = [],
        limits: PluginLimits = PluginLimits(), execution: PluginExecution = .isolated, tokenTypes: [String] = [],
        isForDevelopment: Bool = false, takesOAuthClients: Bool = false, platforms: [any PlatformSection.Type] = [],
        answers: [CallFailure] = []
    ) {
        self.init(
            nil, name, contract, version, summary, stability, posture, reasons, facts, metrics, limits, execution,
            answers, tokenTypes: tokenTypes, takesOAuthClients: takesOAuthClients, isForDevelopment: isForDevelopment,
            platforms: platforms)
    }

    private init(
        _ kind: PluginKind?, _ name: String, _ contract: Int, _ version: String, _ summary: String,
        _ stability: PluginStability, _ posture: SecurityPosture?, _ reasons: [Reason], _ facts: [FactName],
        _ metrics: [Metric], _ limits: PluginLimits, _ execution: PluginExecution, _ answers: [CallFailure],
        tokenTypes: [String] = [], takesOAuthClients: Bool = false, isForDevelopment: Bool = false,
        platforms: [any PlatformSection.Type] = []
    ) {
        self.kind = kind
        self.name = name
        self.contract = contract
        self.version = version
        self.summary = summary
        self.stability = stability
        self.posture = posture
        self.reasons = reasons
        self.facts = facts
        self.metrics = metrics
        self.limits = limits
        self.execution = execution
        self.tokenTypes = tokenTypes
        self.isForDevelopment = isForDevelopment
        self.takesOAuthClients = takesOAuthClients
        self.platforms = platforms
        self.answers = answers
    }
}
