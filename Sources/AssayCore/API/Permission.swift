/// A right that a caller needs before a method answers it; the policy's section `callers` grants it.
///
/// The kernel's permissions have the names of Google's IAM permissions without the prefix `firebaseappcheck.`.
public struct Permission: Sendable, Hashable, CustomStringConvertible {
    /// The name, as policies write it.
    @Exact public private(set) var name: String

    /// - Parameter name: lower-case and upper-case letters and dots, as in `tokens.mint`.
    public init(_ name: String) {
        self.name = name
    }

    /// Same as ``name``.
    public var description: String { name }

    /// All permissions, including those of plugins.
    public static let admin = Permission("admin")
    /// Issuing tokens for an app without evidence.
    public static let mintTokens = Permission("tokens.mint")
    /// Verifying and consuming tokens.
    public static let verifyTokens = Permission("appCheckTokens.verify")
    /// Reading and changing the deny list of a project.
    public static let denyList = Permission("denyList.manage")
    /// Reading the records of decisions.
    public static let readDecisions = Permission("decisions.read")
}
