public import AssayKit

/// What policies say of one project beside its apps.
public struct ProjectPolicy: Sendable {
    public let identity: ProjectIdentity
    /// What stands before the project's number in a token's `iss`.
    public let issuerPrefix: String
}
