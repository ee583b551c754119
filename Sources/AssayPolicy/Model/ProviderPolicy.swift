/// What a policy says of one provider for one app.
public struct ProviderPolicy: Sendable {
    /// The provider's name, which may or may not be that of a registered one.
    public let name: String
    /// The life of session tokens.
    public let tokenLifetime: Duration
    /// The provider's own section.
    public let section: PolicySection
}
