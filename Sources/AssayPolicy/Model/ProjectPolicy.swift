internal import AssayCore
public import AssayKit
public import AssayYAML

/// What policies say of one project beside its apps.
public struct ProjectPolicy: Sendable {
    /// The project's number and ID.
    public let identity: ProjectIdentity
    /// What stands before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// Whether `verifyAppCheckToken` takes tokens of providers for development.
    public let acceptsDevelopment: Bool
    /// Which uses of a token `verifyAppCheckToken` knows of.
    public let consumption: ConsumptionScope
    /// The services that App Check protects, each name once.
    public let services: [ServicePolicy]
    /// The consumers of the project's tokens.
    public let consumers: [ConsumerPolicy]
    /// Where it stands.
    public let location: SourceLocation
}

/// What a policy says of one consumer for one project.
public struct ConsumerPolicy: Sendable {
    /// The consumer's name, which may or may not be that of a registered one.
    public let name: String
    /// The consumer's own section.
    public let section: PolicySection
}

/// Somebody who may call methods that demand a permission: one entry of the section `callers`.
public struct CallerPolicy: Sendable {
    /// What the caller is called in audit records.
    public let name: String
    /// How it proves who it is, and what it may do; the kernel's to decode.
    public let section: PolicySection
}
