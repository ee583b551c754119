/// Decisions that were summed instead of being put on record one by one, since too many came that nothing verified stands
/// behind. The identifiers of such decisions are on no record.
public struct DecisionSummary: Sendable, Hashable {
    /// Decisions that were alike.
    public struct Group: Sendable, Hashable {
        public let method: ExactText
        /// The outcome, as in the audit record: `refused`.
        public let outcome: ExactText
        /// The reason's code or the canonical status; nil where the outcome has neither.
        public let cause: ExactText?
        /// The known resource or caller; nil where neither is known.
        public let subject: ExactText?
        public var count: Int

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

    /// When the first of them came.
    public let since: Instant
    public let until: Instant
    /// A bounded number, the most frequent first.
    public let groups: [Group]
    /// How many decisions are in no group.
    public let others: Int

    public init(since: Instant, until: Instant, groups: [Group], others: Int) {
        self.since = since
        self.until = until
        self.groups = groups
        self.others = others
    }

    /// How many decisions there were.
    public var total: Int { groups.reduce(others) { $0 &+ $1.count } }
}
