public import AssayCore

/// HTTP rules that a server answers itself, so that no method of a plugin may have them.
public struct ReservedRoutes: Sendable, Hashable {
    /// Who answers them, for error messages: `the HTTP server`.
    @Exact public private(set) var owner: String
    /// The rules.
    public let rules: [HTTPRule]

    /// Reserves rules for an owner.
    public init(owner: String, rules: [HTTPRule]) {
        self.owner = owner
        self.rules = rules
    }
}
