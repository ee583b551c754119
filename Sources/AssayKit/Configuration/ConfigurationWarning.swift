/// Something questionable in a plugin's own section of a policy, and no reason to refuse it.
public struct ConfigurationWarning: Sendable, Equatable {
    /// The way from the plugin's section to the value; empty for the section itself.
    public let path: [ConfigurationError.Component]
    /// What is questionable and what to do, in words for an operator; never a secret.
    @Exact public private(set) var message: String

    public init(at path: [ConfigurationError.Component] = [], _ message: String) {
        self.path = path
        self.message = message
    }
}
