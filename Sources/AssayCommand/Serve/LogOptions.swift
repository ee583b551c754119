internal import ArgumentParser
internal import AssayCore
internal import AssayYAML
internal import Logging

/// What is logged, and how.
struct LogOptions: ParsableArguments {
    @Option(help: "The lowest level that is logged.")
    var logLevel = LogLevel.info

    @Option(help: "The format of log lines: for people, or one JSON object per line.")
    var logFormat = LogFormat.text

    /// Sets up the log of the process, and gives a logger.
    func bootstrap() -> Logger {
        let format = logFormat
        LoggingSystem.bootstrap { LineLogHandler(label: $0, format: format) }
        var logger = Logger(label: AssayProgram.current.name)
        logger.logLevel = logLevel.level
        return logger
    }

    /// Says on standard output where the server listens: the one line there.
    ///
    /// The program that starts it waits for that line and reads the URL at its end; as JSON, in the member `url`.
    ///
    /// - Parameter aside: whether it goes to standard error, because standard output is for audit records.
    func announce(url: String, aside: Bool = false, _ logger: Logger) {
        let program = AssayProgram.current.name
        let message = "\(program) listens on \(url)"
        let line =
            switch logFormat {
            case .text: message
            case .json:
                String(
                    decoding: logFormat.line(
                        LogEntry(
                            time: HostClock.system.now, level: .info, label: logger.label, source: program,
                            message: message, metadata: ["url": "\(url)"])
                    ).dropLast(), as: UTF8.self)
            }
        // A server whose starter has gone away serves anyway.
        if aside { Terminal.note(line) } else { try? Terminal.say(line) }
    }

    /// Says why the server could not begin, or had to end.
    func note(_ error: any Error, _ logger: Logger) {
        switch (logFormat, error) {
        case (.text, let problems as Diagnostics): Terminal.note(problems.description)
        case (.text, _): Terminal.report(error)
        case (.json, let problems as Diagnostics):
            for problem in problems.all {
                var metadata: Logger.Metadata = ["problem": "\(problem.message)"]
                metadata["place"] = (problem.location?.description ?? problem.file).map { "\($0)" }
                metadata["path"] = problem.path.isEmpty ? nil : "\(problem.path)"
                metadata["hint"] = problem.hint.map { "\($0)" }
                logger.critical("the policies have errors", metadata: metadata)
            }
            if problems.omitted > 0 {
                logger.critical("there are more problems", metadata: ["count": .stringConvertible(problems.omitted)])
            }
        case (.json, _): logger.critical("cannot serve", metadata: ["error": "\(error)"])
        }
    }
}

/// How much is logged.
enum LogLevel: String, ExpressibleByArgument, CaseIterable, Sendable {
    case debug
    case info
    case notice
    case warning
    case error

    var level: Logger.Level {
        switch self {
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        }
    }
}
