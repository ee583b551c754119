internal import AssayCore
internal import Logging

/// Writes each log entry as one line, in one of the formats.
struct LineLogHandler: LogHandler {
    private let label: String
    private let format: LogFormat
    private let output: LogOutput
    private let clock: HostClock

    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, format: LogFormat, output: LogOutput = .standardError, clock: HostClock = .system) {
        self.label = label
        self.format = format
        self.output = output
        self.clock = clock
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var all = metadata
        if let provided = metadataProvider?.get() { all.merge(provided) { $1 } }
        // Most entries have metadata of their own alone, which need not be copied.
        if let own = event.metadata { if all.isEmpty { all = own } else { all.merge(own) { $1 } } }
        if let error = event.error, all["error"] == nil { all["error"] = "\(error)" }
        output.write(
            format.line(
                LogEntry(
                    time: clock.now, level: event.level, label: label, source: event.source,
                    message: "\(event.message)", metadata: all)))
    }
}
