public import Logging
import Synchronization

/// Keeps what is logged at `info` and above.
public final class RecordingLog: Sendable {
    private let recorded = Mutex<[String]>([])

    /// Makes an empty log.
    public init() {}

    /// Each line: the message, then its metadata in the order of their names.
    public var lines: [String] { recorded.withLock { $0 } }

    /// A logger that writes to this log.
    public var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        func log(event: LogEvent) {
            let metadata = self.metadata.merging(event.metadata ?? [:]) { $1 }
            let words = metadata.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            log.recorded.withLock { $0.append((["\(event.message)"] + words).joined(separator: " ")) }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }
    }
}
