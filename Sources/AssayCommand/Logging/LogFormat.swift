internal import ArgumentParser
internal import Logging

/// How log lines look.
enum LogFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// `time level label: name=value ... [module] message`
    case text
    /// One JSON object a line: `time`, `level`, `label`, `source`, `message`, and the metadata as members.
    case json

    func line(_ entry: LogEntry) -> [UInt8] {
        switch self {
        case .text: TextLogLine.encode(entry)
        case .json: JSONLogLine.encode(entry)
        }
    }
}
