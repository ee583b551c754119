public import AssayCore
public import AssayKit
internal import Logging

/// What every `DecisionSinkPlugin` promises, as checks for the author of a sink.
///
///     let suite = DecisionSinkSuite { host in
///         let sink = try await MySink.open("…", host: host)
///         return DecisionSinkSuite.Subject(sink, written: { … })
///     }
///     #expect(await suite.run() == [])
///
/// Each check has its own sink. The checks, by name:
///
/// | promise | what is checked |
/// |---|---|
/// | `order` | the entries of batches of all sizes arrive in their order, each once |
/// | `load` | thousands of entries arrive completely |
/// | `hostile-text` | line ends, quotes, NUL and equivalent Unicode spellings arrive as they were, within one record |
/// | `long-text` | an entry with 100 KB of text arrives as a whole, or the error says that it never can |
/// | `failing` | while it cannot write, nothing is taken: each call throws; a later call writes all (with `fails`) |
/// | `cancellation` | a call that is cancelled while the place is slow ends soon (with `isSlow`) |
/// | `closing` | what was taken is there after the close, and later calls throw |
/// | `secrecy` | no error, no log line has text of an entry or a secret |
public struct DecisionSinkSuite: Sendable {
    /// A sink, and how the suite looks at what it wrote.
    public struct Subject: Sendable {
        let sink: any DecisionSinkPlugin
        let written: @Sendable () async throws -> [Written]
        let fails: (@Sendable (Bool) async throws -> Void)?
        let isSlow: (@Sendable (Bool) async throws -> Void)?
        let secrets: [String]

        /// Describes a sink under test.
        ///
        /// - `written`: everything that arrived so far, in its order.
        /// - `fails`: makes the place of the records fail, or work again. Nil leaves the check `failing` out.
        /// - `isSlow`: makes the place of the records answer after minutes, or at once again. Nil leaves the check
        ///   `cancellation` out.
        /// - `secrets`: what must not be in any error or log line, such as a token that the sink sends.
        public init(
            _ sink: any DecisionSinkPlugin, written: @escaping @Sendable () async throws -> [Written],
            fails: (@Sendable (Bool) async throws -> Void)? = nil,
            isSlow: (@Sendable (Bool) async throws -> Void)? = nil, secrets: [String] = []
        ) {
            self.sink = sink
            self.written = written
            self.fails = fails
            self.isSlow = isSlow
            self.secrets = secrets
        }
    }

    /// A record as it arrived: two of its texts.
    public struct Written: Sendable, Hashable {
        /// The decision's identifier.
        @Exact public private(set) var decision: String
        /// The record's `detail`; empty when it has none.
        @Exact public private(set) var detail: String

        /// Makes a record from its texts.
        public init(decision: String, detail: String) {
            self.decision = decision
            self.detail = detail
        }

        /// A record from the line of the audit file; nil for anything else.
        public init?(line: [UInt8]) {
            let limits = JSON.Limits(bytes: 1 << 20)
            guard let object = try? JSON.parse(line, limits: limits), let decision = object["decision"]?.string else {
                return nil
            }
            self.init(decision: decision, detail: object["detail"]?.string ?? "")
        }
    }

    /// Opens a sink whose place is empty.
    public typealias Make = @Sendable (StorageHost) async throws -> Subject

    typealias Run = SuiteRun<Subject>
    typealias Check = @Sendable (Run) async throws -> Void

    private let make: Make
    private let http: any OutboundHTTP

    /// - Parameters:
    ///   - http: what the sink calls other servers with.
    ///   - make: opens a sink for each check.
    public init(http: any OutboundHTTP = NoOutboundHTTP(), make: @escaping Make) {
        self.make = make
        self.http = http
    }

    /// The checks, in their order; their names are stable.
    var checks: [SuiteCheck] {
        [
            check("order", "the entries of batches of all sizes arrive in their order, each once", order),
            check("load", "thousands of entries arrive completely", load),
            check(
                "hostile-text",
                "line ends, quotes, NUL and equivalent Unicode spellings arrive as they were, within one record",
                hostileText),
            check(
                "long-text", "an entry with 100 KB of text arrives as a whole, or the error says that it never can",
                longText),
            check(
                "failing",
                "while it cannot write, nothing is taken: each call throws; a later call writes all (with `fails`)",
                failing),
            check(
                "cancellation", "a call that is cancelled while the place is slow ends soon (with `isSlow`)",
                cancellation),
            check("closing", "what was taken is there after the close, and later calls throw", closing),
            check("secrecy", "no error, no log line has text of an entry or a secret", secrecy),
        ]
    }

    private func check(_ name: String, _ rule: String, _ check: @escaping Check) -> SuiteCheck {
        SuiteCheck(name: name, rule: rule) { _, _ in
            let log = SuiteLog()
            do {
                let host = StorageHost(http: http, logger: Logger(label: "suite") { _ in SuiteLog.Handler(log: log) })
                let run = Run(subject: try await make(host), log: log)
                do {
                    try await check(run)
                } catch {
                    run.expect(false, "threw \(error)")
                }
                await run.subject.sink.close()
                return run.outcome
            } catch {
                return .failed(["no sink could be made: \(error)"])
            }
        }
    }

    /// Runs all checks.
    ///
    /// Returns the promises that were broken, none for a good sink. What was not looked at is in the report of a
    /// ``PromiseSuite``.
    public func run() async -> [SuiteFailure] {
        await checks.lines(.quick, .ofWholeChecks).failures
    }
}
