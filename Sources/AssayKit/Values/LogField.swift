/// A value for a log line that comes from outside, made fit before.
///
/// As text it stands in quotation marks where it has spaces, so that nobody can write a field of another name into a
/// line of `name=value`. A log that keeps fields apart by itself takes ``text`` as it is.
package struct LogField: Sendable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\"") }) else { return text }
        return
            "\"\(String(decoding: text.utf8.map { $0 == UInt8(ascii: "\"") ? UInt8(ascii: "'") : $0 }, as: UTF8.self))\""
    }
}
