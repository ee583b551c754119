public import AssayCore

/// A plugin's description of itself, read once before any policy.
public struct PluginDescriptor: Sendable {
    /// The version of the contract that this kit describes.
    ///
    /// A plugin for another version is refused at start.
    public static let currentContract = 1

    /// The name in policies, in audit records and in the tokens' `provider` claim: `app_attest`, `debug`.
    public let name: String
    /// The version of the contract that the plugin was built for.
    public let contract: Int
    /// One sentence for people.
    public let summary: String
    /// Every reason that the plugin may refuse with; a verdict with another one counts as a fault of the plugin.
    public let reasons: [Reason]
    /// The facts that the plugin's verdicts and answers may carry.
    public let facts: [FactName]
    /// The metrics of the plugin; see `Meter`.
    public let metrics: [Metric]
    /// The largest piece of evidence, in bytes once decoded; a larger one is refused before the plugin sees it.
    public let evidenceLimit: Int
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

    /// Describes a plugin; the defaults suit most plugins.
    public init(
        name: String, contract: Int, summary: String, reasons: [Reason], facts: [FactName] = [],
        metrics: [Metric] = [], evidenceLimit: Int = 32 * 1024, isForDevelopment: Bool = false,
        takesOAuthClients: Bool = false, platforms: [any PlatformSection.Type] = [], answers: [CallFailure] = []
    ) {
        self.name = name
        self.contract = contract
        self.summary = summary
        self.reasons = reasons
        self.facts = facts
        self.metrics = metrics
        self.evidenceLimit = evidenceLimit
        self.isForDevelopment = isForDevelopment
        self.takesOAuthClients = takesOAuthClients
        self.platforms = platforms
        self.answers = answers
    }
}
