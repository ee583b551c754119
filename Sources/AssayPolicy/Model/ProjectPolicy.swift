internal import AssayCore
public import AssayKit
public import AssayYAML

/// The policy of one project, without its apps.
public struct ProjectPolicy: Sendable {
    /// The project's number and ID.
    public let identity: ProjectIdentity
    /// The text before the project's number in a token's `iss`.
    public let issuerPrefix: String
    /// Whether `verifyAppCheckToken` accepts tokens of providers for development.
    public let acceptsDevelopment: Bool
    /// Which uses of a token count for `verifyAppCheckToken`.
    public let consumption: ConsumptionScope
    /// The services that App Check protects, each name once.
    public let services: [ServicePolicy]
    /// The consumers of the project's tokens.
    public let consumers: [ConsumerPolicy]
    /// The place of the policy in its file.
    public let location: SourceLocation
    /// The policy as its file has it, with the apps of that file.
    let node: YAMLNode
}

/// The policy of one consumer for one project.
public struct ConsumerPolicy: Sendable {
    /// The name of a consumer, which may be unknown.
    public let name: String
    /// The consumer's own section.
    public let section: PolicySection
}

/// A caller of methods that demand a permission: one entry of the section `callers`.
public struct CallerPolicy: Sendable {
    /// The name of the caller in audit records.
    public let name: String
    /// Its credentials and permissions, which the kernel decodes.
    public let section: PolicySection
}
