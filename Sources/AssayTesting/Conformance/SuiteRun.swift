internal import AssayCore
internal import AssayKit
internal import Logging
internal import Synchronization

/// One running check of a store, a sink or a vault: what it is made with, its log, and its findings.
final class SuiteRun<Subject: Sendable>: Sendable {
    private struct Found {
        var findings: [String] = []
        var notLookedAt: [String] = []
    }

    let subject: Subject
    let log: SuiteLog
    private let found = Mutex(Found())

    init(subject: Subject, log: SuiteLog) {
        self.subject = subject
        self.log = log
    }

    /// How the check ended.
    var outcome: ConformanceReport.Outcome {
        found.withLock { found in
            guard found.findings.isEmpty else { return .failed(found.findings) }
            guard found.notLookedAt.isEmpty else {
                return .notLookedAt(found.notLookedAt.joined(separator: "; "), calls: 0)
            }
            return .passed(calls: 0)
        }
    }

    func expect(_ holds: Bool, _ detail: @autoclosure () -> String) {
        guard !holds else { return }
        let finding = String(detail().prefix(240))
        found.withLock { found in
            if !found.findings.contains(where: finding.isExactly) { found.findings.append(finding) }
        }
    }

    /// Says what the check cannot look at.
    func overlook(_ what: String) {
        found.withLock { $0.notLookedAt.append(what) }
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
