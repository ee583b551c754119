public import AssayCore

/// A plugin's description of itself, read once before any policy.
public struct PluginDescriptor: Sendable {
    /// The version of the contract that this kit describes.
    public static let currentContract = 2
    /// The oldest version that is accepted, with a warning; a plugin for another one is refused at start.
    public static let oldestContract = 1

    /// The name in policies, in audit records and in the tokens' `provider` claim: `app_attest`, `debug`.
    public let name: String
    /// The version of the contract that the plugin was built for.
    public let contract: Int
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
    /// `typ` of the JWTs that a consumer signs with ``ConsumerTokens/sign(type:claims:)``; never `JWT`.
    public let tokenTypes: [String]
    /// Whether the provider is for development, as debug tokens are: its tokens are accepted only where a policy says
    /// so.
    public let isForDevelopment: Bool
    /// Whether a consumer accepts tokens of OAuth clients by default.
    ///
    /// Such a token proves an app to an authorization server, so a consumer that protects anything else should not
    /// accept it.
    public let takesOAuthClients: Bool
    /// The sections of an app that a provider reads, such as Apple's names for the app.
    public let platforms: [any PlatformSection.Type]
    /// Responses that the plugin makes itself, by throwing a `CallFailure` with one of its reasons; for the list of
    /// reasons.
    ///
    /// The kernel makes the responses to all other refusals.
    public let answers: [CallFailure]

    /// The largest piece of evidence in bytes; see ``PluginLimits/evidence``.
    public var evidenceLimit: Int { limits.evidence }

    /// Describes a plugin; the defaults suit most plugins.
    public init(
        name: String, contract: Int, version: String = "", summary: String, stability: PluginStability = .experimental,
        posture: SecurityPosture? = nil, reasons: [Reason], facts: [FactName] = [], metrics: [Metric] = [],
        limits: PluginLimits = PluginLimits(), execution: PluginExecution = .isolated, tokenTypes: [String] = [],
        isForDevelopment: Bool = false, takesOAuthClients: Bool = false, platforms: [any PlatformSection.Type] = [],
        answers: [CallFailure] = []
    ) {
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

    /// Describes a plugin in the form of contract 1.
    ///
    /// - `evidenceLimit`: see ``PluginLimits/evidence``.
    public init(
        name: String, contract: Int, summary: String, reasons: [Reason], facts: [FactName] = [],
        metrics: [Metric] = [], evidenceLimit: Int, isForDevelopment: Bool = false, takesOAuthClients: Bool = false,
        platforms: [any PlatformSection.Type] = [], answers: [CallFailure] = []
    ) {
        self.init(
            name: name, contract: contract, summary: summary, reasons: reasons, facts: facts, metrics: metrics,
            limits: PluginLimits(evidence: evidenceLimit), isForDevelopment: isForDevelopment,
            takesOAuthClients: takesOAuthClients, platforms: platforms, answers: answers)
    }
}
