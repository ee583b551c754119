public import AssayCore

/// A place for the records of decisions that an operator can choose by its scheme, as in `--sink SCHEME:LOCATION`.
///
/// The kernel has a bounded queue for each sink, from which one task passes on batches: no request waits for a sink. An
/// implementer keeps these promises; `DecisionSinkSuite` in `AssayTesting` checks them:
///
/// - when ``record(_:)`` returns, all entries of the batch are written, in their order;
/// - a ``record(_:)`` that throws may be called again with the same entries: they may appear twice, and never not at
///   all;
/// - memory is bounded: entries that cannot be written are not collected, but ``record(_:)`` throws or takes its time;
/// - text is kept intact and is hostile: no text in an entry can end its record or begin another one;
/// - after ``close()``, what was recorded is where it belongs, and ``record(_:)`` throws;
/// - no error and no log line has an entry's text or a secret.
public protocol DecisionSinkPlugin: Sendable {
    /// The scheme, and what operators should know.
    static var descriptor: StorageDescriptor { get }

    /// Opens the sink.
    ///
    /// - `location`: the text after the colon.
    /// - Throws: ``DecisionSinkError`` with words for an operator.
    static func open(_ location: String, host: StorageHost) async throws(DecisionSinkError) -> Self

    /// Writes entries, the oldest first. It is never called twice at once.
    ///
    /// - `entries`: at least one, and at most ``DecisionEntry/batchLimit``.
    /// - Throws: ``DecisionSinkError``. The kernel calls again with the same entries after a growing pause, or drops
    ///   them if the error says so.
    func record(_ entries: [DecisionEntry]) async throws(DecisionSinkError)

    /// Does work for the life of a server, until its task is cancelled; nothing by default.
    ///
    /// A run that throws is logged, `/readyz` says so, and another one begins after a pause.
    func run() async throws

    /// Writes what it still holds, and frees what it uses. It is called once, after the last ``record(_:)``.
    func close() async
}

extension DecisionSinkPlugin {
    /// Nothing to do.
    public func run() async throws {}
}

/// One entry for a sink: the record of a decision, the sum of many, or a change of the service itself.
public struct DecisionEntry: Sendable {
    /// The most entries in one batch.
    public static let batchLimit = 256

    /// What the entry is about.
    @nonexhaustive public enum Content: Sendable {
        case decision(DecisionRecord)
        case summary(DecisionSummary)
        case event(AuditEvent)
    }

    /// The record, the sum or the change.
    public let content: Content
    /// The same as one JSON object in printable ASCII, without a line end: the line of the audit file.
    ///
    /// Its texts are cut to 160 characters and have no secrets.
    public let line: [UInt8]

    /// Makes an entry; the kernel and tests use it.
    public init(_ content: Content, line: [UInt8]) {
        self.content = content
        self.line = line
    }
}

/// Why a sink cannot be opened, or cannot write entries; never text of an entry.
public struct DecisionSinkError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What went wrong, for operators.
    @Exact public private(set) var message: String
    /// Whether these entries can never be written: the kernel drops and counts them, and continues with the next.
    public let isFinal: Bool
    /// The shortest pause before the next try, because a server asked for it; the kernel waits at most a minute.
    public let retryAfter: Duration?

    /// Makes an error with a message for operators.
    public init(_ message: String, isFinal: Bool = false, retryAfter: Duration? = nil) {
        self.isFinal = isFinal
        self.retryAfter = retryAfter
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}
