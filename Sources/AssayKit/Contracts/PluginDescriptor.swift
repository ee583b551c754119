/// What a plugin says of itself, once, before any policy is read.
public struct PluginDescriptor: Sendable {
    /// The version of the contract that this kit describes. A plugin built for another one is refused at start.
    public static let currentContract = 1

    /// The name in policies, in audit records and in the tokens' `provider` claim: `app_attest`, `debug`.
    public let name: String
    /// The version of the contract that the plugin was written for.
    public let contract: Int
    /// One sentence for people.
    public let summary: String
    /// Every reason that the plugin may refuse with; a verdict with another one counts as a fault of the plugin.
    public let reasons: [Reason]
    /// The facts that the plugin's verdicts and answers may carry.
    public let facts: [FactName]
    /// What the plugin counts and measures; see ``Meter``.
    public let metrics: [Metric]
    /// The largest piece of evidence, in bytes once decoded; a larger one is refused before the plugin sees it.
    public let evidenceLimit: Int
    /// Whether the provider stands in for evidence while an app is developed, as debug tokens do: its tokens are good only
    /// where a policy says so.
    public let isForDevelopment: Bool
    /// Whether a consumer takes tokens of OAuth clients where the policy does not say. Such a token proves an app to an
    /// authorization server, and so a consumer that protects anything else does not.
    public let takesOAuthClients: Bool

    public init(
        name: String, contract: Int, summary: String, reasons: [Reason], facts: [FactName] = [],
        metrics: [Metric] = [], evidenceLimit: Int = 32 * 1024, isForDevelopment: Bool = false,
        takesOAuthClients: Bool = false
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
    }
}
