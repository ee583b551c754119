public import AssayKit
public import AssayYAML

/// What policies say of one project beside its apps.
public struct ProjectPolicy: Sendable {
    public let identity: ProjectIdentity
    /// What stands before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// Whether `verifyAppCheckToken` takes tokens of providers for development.
    public let acceptsDevelopment: Bool
    /// Which uses of a token `verifyAppCheckToken` knows of.
    public let consumption: ConsumptionScope
    /// The services that App Check protects, each name once.
    public let services: [ServicePolicy]
    /// What tokens are good for.
    public let consumers: [ConsumerPolicy]
    /// Where it stands.
    public let location: SourceLocation
}
