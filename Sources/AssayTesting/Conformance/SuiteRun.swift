internal import Logging
internal import Synchronization

/// One running check of a store, a sink or a vault: what it is made with, its log, and its findings.
final class SuiteRun<Subject: Sendable>: Sendable {
    let subject: Subject
    let log: SuiteLog
    private let promise: String
    private let found = Mutex<[SuiteFailure]>([])

    init(promise: String, subject: Subject, log: SuiteLog) {
        self.promise = promise
        self.subject = subject
        self.log = log
    }

    var failures: [SuiteFailure] { found.withLock { $0 } }

    func expect(_ holds: Bool, _ detail: @autoclosure () -> String) {
        guard !holds else { return }
        let failure = SuiteFailure(promise: promise, detail: String(detail().prefix(240)))
        found.withLock { if !$0.contains(failure) { $0.append(failure) } }
    }
}

/// Keeps what is logged during a check.
final class SuiteLog: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    /// The lines since the last time that they were taken.
    func take() -> [String] {
        kept.withLock { kept in
            defer { kept = [] }
            return kept
        }
    }

    struct Handler: LogHandler {
        let log: SuiteLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        func log(event: LogEvent) {
            let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
            log.kept.withLock { $0.append("\(event.message) \(metadata)") }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
    }
}
