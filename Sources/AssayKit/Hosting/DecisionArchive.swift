public import AssayCore

/// Records of decisions that can be looked up: what the methods `getDecision` and `listDecisions` read.
///
/// A look-up must be bounded in time, memory and what it reads, and throw ``DecisionArchiveError`` beyond: callers can ask
/// again and again.
public protocol DecisionArchive: Sendable {
    /// The record of a decision about a project or one of its apps; nil when there is none.
    ///
    /// A decision that is only in a sum has no record.
    ///
    /// - `projects`: the project's number and its ID.
    func decision(_ id: DecisionID, of projects: [ExactText]) async throws(DecisionArchiveError) -> ArchivedDecision?

    /// The records that match, the newest first.
    func decisions(_ query: DecisionQuery) async throws(DecisionArchiveError) -> DecisionPage
}

/// Which decisions are looked for: those that have all that is set.
public struct DecisionQuery: Sendable, Hashable {
    /// The number and the ID of the project, one of which is in the resource's name; empty for any project.
    public var projects: [ExactText] = []
    /// An app ID or OAuth client ID, or the full name of the resource.
    @Exact public var app: String?
    /// The code of the reason, also of one that was not enforced.
    @Exact public var reason: String?
    /// The first instant.
    public var since: Instant?
    /// The first instant that is not meant any more.
    public var until: Instant?
    /// The value of the fact `key_id`, exactly as the record has it; facts of other names are not looked up, also where they identify the
    /// attester.
    @Exact public var keyID: String?
    /// The policy's name of the caller.
    @Exact public var caller: String?
    /// The name of the method.
    @Exact public var method: String?
    /// The outcome, as records have it: `refused`.
    @Exact public var outcome: String?
    /// The rule that decided, or would have refused.
    @Exact public var rule: String?
    /// The service or backend whose use of a token the decision was, as ``TokenUse/service`` names it.
    @Exact public var service: String?
    /// The most records of a page.
    public var limit: Int
    /// The `nextPageToken` of the page before.
    @Exact public var pageToken: String?

    /// Makes a query for any decision.
    public init(limit: Int = 100) {
        self.limit = limit
    }
}

/// A page of records.
public struct DecisionPage: Sendable {
    /// The records, the newest first.
    public var decisions: [ArchivedDecision]
    /// What the next page begins with; nil at the end.
    ///
    /// A page may be short, and have one: a look-up ends when it has read
    /// enough.
    @Exact public var nextPageToken: String?

    /// Makes a page.
    public init(decisions: [ArchivedDecision], nextPageToken: String? = nil) {
        self.decisions = decisions
        self.nextPageToken = nextPageToken
    }
}

/// A record as the audit file has it.
public struct ArchivedDecision: Sendable, Hashable {
    /// The line of the audit file.
    public let record: JSON

    /// Wraps the line of an audit file.
    public init(record: JSON) {
        self.record = record
    }
}

/// Why an archive does not answer; no text of a record.
public struct DecisionArchiveError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What a caller can do about it.
    @nonexhaustive public enum Kind: Sendable, Hashable {
        /// Ask again later.
        case unavailable
        /// Ask otherwise: the page token is wrong.
        case invalidQuery
    }

    /// What a caller can do about it.
    public let kind: Kind
    /// The reason, in words.
    @Exact public private(set) var message: String

    /// Makes an error from its words.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
