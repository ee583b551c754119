public import AssayCore

/// What a caller must be allowed to do before a method answers it; the policy's section `callers` grants it.
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

    /// Everything, those of plugins included.
    public static let admin = Permission("admin")
    /// To have a token made for an app without evidence.
    public static let mintTokens = Permission("tokens.mint")
    /// To verify and consume tokens.
    public static let verifyTokens = Permission("appCheckTokens.verify")
}
