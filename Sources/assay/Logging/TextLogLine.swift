internal import AssayKit
internal import Logging

/// A line of the log for people, in the form that swift-log's own handler writes.
///
/// It is one line that steers no terminal, whatever is in it: control characters and those that change the direction of
/// text are written as `\u{1b}`.
enum TextLogLine {
    static func encode(_ entry: LogEntry) -> [UInt8] {
        var line = Array("\(entry.time.textWithMilliseconds) \(entry.level) \(shown(entry.label)):".utf8)
        // Behind what may be cut off stands what must not.
        let end = Array(" [\(shown(entry.source))] \(shown(entry.message))".utf8)
        let room = LogEntry.lineLimit - end.count - mark.count
        for field in entry.fields {
            let text = Array(" \(shown(field.name))=\(shown("\(field.value)"))".utf8)
            guard line.count + text.count <= room else {
                line += mark
                break
            }
            line += text
        }
        return line + end + [UInt8(ascii: "\n")]
    }

    private static let mark = Array(" truncated=true".utf8)

    private static func shown(_ text: String) -> String {
        if text.utf8.count <= LogEntry.valueLimit, text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            guard shown.utf8.count < LogEntry.valueLimit else { return "\(shown)..." }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator:
                shown += scalar == "\n" ? "\\n" : "\\u{\(String(scalar.value, radix: 16))}"
            default: shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }
}
