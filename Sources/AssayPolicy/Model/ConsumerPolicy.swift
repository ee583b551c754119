/// What a policy says of one consumer for one project.
public struct ConsumerPolicy: Sendable {
    /// The consumer's name, which may or may not be that of a registered one.
    public let name: String
    /// The consumer's own section.
    public let section: PolicySection
}
