/// Somebody who may call methods that demand a permission: one entry of the section `callers`.
public struct CallerPolicy: Sendable {
    /// What the caller is called in audit records.
    public let name: String
    /// How it proves who it is, and what it may do; the kernel's to decode.
    public let section: PolicySection
}
