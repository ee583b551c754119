internal import AssayCore
internal import Logging

/// A line of the log for people: `time level label: name=value ... [module] message`.
///
/// It is one line that steers no terminal, whatever is in it, and a program can read it: `LogField` says how values are
/// written. A list or a dictionary is written as JSON, and then like any other value.
enum TextLogLine {
    static func encode(_ entry: LogEntry) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(512)
        line += "\(entry.time.textWithMilliseconds) \(entry.level) \(words(entry.label)):".utf8
        // Behind what may be cut off stands what must not.
        let end = Array(" [\(words(entry.source))] \(words(entry.message))".utf8)
        let room = LogEntry.lineLimit - end.count - mark.count
        for field in entry.fields {
            let (name, value) = (LogField.name(field.name, limit: LogEntry.valueLimit), value(field.value))
            guard line.count + name.utf8.count + value.utf8.count + 2 <= room else {
                line += mark
                break
            }
            line.append(UInt8(ascii: " "))
            line += name.utf8
            line.append(UInt8(ascii: "="))
            line += value.utf8
        }
        line += end
        line.append(UInt8(ascii: "\n"))
        return line
    }

    private static let mark = Array(" truncated=true".utf8)

    private static func value(_ value: Logger.MetadataValue) -> String {
        let text =
            switch value {
            case .string(let text): text
            case .stringConvertible(let field as LogField): field.text
            case .stringConvertible(let value): "\(value)"
            case .array, .dictionary: JSONLogLine.text(of: value)
            }
        return LogField.value(text, limit: LogEntry.valueLimit)
    }

    private static func words(_ text: String) -> String { LogField.words(text, limit: LogEntry.valueLimit) }
}
