public import AssayCore

/// What a server answers or counts itself, so that no plugin may have it.
public struct ReservedNames: Sendable, Hashable {
    /// Whose they are, for error messages: `the HTTP server`.
    @Exact public private(set) var owner: String
    /// The rules of its pages.
    public let rules: [HTTPRule]
    /// Its metrics.
    public let metrics: [Metric]

    /// Reserves rules and metrics for an owner.
    public init(owner: String, rules: [HTTPRule] = [], metrics: [Metric] = []) {
        self.rules = rules
        self.metrics = metrics
        self.owner = owner
    }
}
