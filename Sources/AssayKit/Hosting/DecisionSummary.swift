public import AssayCore

/// A sum of decisions without records of their own, made when too many unverified requests come.
///
/// The identifiers of such decisions are not recorded.
public struct DecisionSummary: Sendable, Hashable {
    /// Decisions with the same method, outcome, cause and subject.
    public struct Group: Sendable, Hashable {
        /// The name of the method.
        public let method: ExactText
        /// The outcome, as in the audit record: `refused`.
        public let outcome: ExactText
        /// The reason's code or the canonical status; nil if the outcome has neither.
        public let cause: ExactText?
        /// The known resource or caller; nil where neither is known.
        public let subject: ExactText?
        /// How many decisions are in the group.
        public var count: Int

        /// Makes a group.
        public init(
            method: ExactText, outcome: ExactText, cause: ExactText?, subject: ExactText?, count: Int
        ) {
            self.method = method
            self.outcome = outcome
            self.cause = cause
            self.subject = subject
            self.count = count
        }
    }

    /// When the first decision of the sum was made.
    public let since: Instant
    /// The end of the summed period.
    public let until: Instant
    /// A limited number of groups, the most frequent first.
    public let groups: [Group]
    /// How many decisions are in no group.
    public let others: Int

    /// Makes a sum of the decisions between two instants.
    public init(since: Instant, until: Instant, groups: [Group], others: Int) {
        self.since = since
        self.until = until
        self.groups = groups
        self.others = others
    }

    /// The number of decisions.
    public var total: Int { groups.reduce(others) { $0 &+ $1.count } }
}
