public import AssayCore

/// One thing wrong in a policy file: where, which key, what, and what was perhaps meant.
public struct Diagnostic: Error, Sendable, CustomStringConvertible {
    /// How bad it is.
    @nonexhaustive public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// The policies are refused.
        case error
        /// The policies are valid, but perhaps not what was meant.
        case warning
    }

    /// A second place that belongs to the problem.
    public struct Note: Sendable, Hashable {
        /// The second place.
        public let location: SourceLocation
        /// Why the place matters, such as "first defined here".
        @Exact public private(set) var message: String

        package init(location: SourceLocation, message: String) {
            self.location = location
            self.message = message
        }
    }

    /// Whether the policies are refused because of it.
    public let severity: Severity
    /// The file; nil when the problem does not belong to a single file.
    public let file: String?
    /// Where; nil when the problem is not in a file's text, such as a file that cannot be read.
    public let location: SourceLocation?
    /// The first place after the error; the end of the line when that is unknown or far away.
    public let end: SourceLocation?
    /// The way from the root to the value, such as `projects[0].apps[1].token_ttl`; empty for the root.
    public let path: String
    /// The error, and the expected value.
    public let message: String
    /// What was perhaps meant, such as "did you mean `token_ttl`?".
    public let hint: String?
    /// Other places that belong to the problem.
    public let related: [Note]
    private let place: Place

    /// The source of an excerpt, from which everything secret is removed at the end.
    private enum Place: Sendable {
        case none
        case shown(SourceExcerpt)
        case source(YAMLSource, YAMLPosition)
    }

    package init(
        _ severity: Severity = .error, file: String? = nil, location: SourceLocation?, path: String = "",
        message: String, hint: String? = nil, related: [Note] = [], excerpt: SourceExcerpt? = nil
    ) {
        self.severity = severity
        self.file = location?.file ?? file
        self.location = location
        self.end = nil
        self.path = path
        self.message = DisplayText.line(message)
        self.hint = Self.hint(hint, message, nil)
        self.related = related
        self.place = excerpt.map { .shown($0) } ?? .none
    }

    init(
        _ severity: Severity = .error, in source: YAMLSource, from start: YAMLPosition, to end: YAMLPosition?,
        path: YAMLPath, message: String, hint: String?, related: [Note], name: String? = nil
    ) {
        self.severity = severity
        self.file = source.file
        self.location = source.location(start)
        self.end = source.location(end.flatMap { $0 >= start ? $0 : nil } ?? source.endOfLine(at: start))
        self.path = path.description
        self.message = DisplayText.line(message)
        self.hint = Self.hint(hint, message, name)
        self.related = related
        self.place = .source(source, start)
    }

    /// A hint, with the code points of what is not ASCII in the names that the problem is about: a reader cannot see them, or takes them
    /// for other characters.
    private static func hint(_ hint: String?, _ message: String, _ name: String?) -> String? {
        let quoted = message.split(onASCII: "`").enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        let parts = [hint.map(DisplayText.line), DisplayText.codePoints(quoted + [name ?? ""])].compactMap { $0 }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }

    /// The source line for the caret, without possible secrets; nil when no line can be shown.
    public var excerpt: SourceExcerpt? {
        switch place {
        case .none: nil
        case .shown(let excerpt): excerpt
        case .source(let source, let position): source.excerpt(at: position)
        }
    }

    /// `file:line:column: path: message`, then the hint, the source line with its caret, and the related places.
    public var description: String {
        let kind = severity == .warning ? "warning" : nil
        var head = [location?.description ?? file, kind, path.isEmpty ? nil : path, message].compactMap { $0 }
            .joined(separator: ": ")
        if let hint { head += "\n  \(hint)" }
        if let excerpt { head += "\n\(excerpt)" }
        for note in related { head += "\n  \(note.location): \(note.message)" }
        return head
    }
}

extension Diagnostic: Hashable {
    /// Whether both say the same of the same place; texts are compared by their bytes.
    public static func == (left: Diagnostic, right: Diagnostic) -> Bool {
        left.severity == right.severity && left.file.isExactly(right.file) && left.location == right.location
            && left.path.isExactly(right.path) && left.message.isExactly(right.message)
            && left.hint.isExactly(right.hint)
            && left.related == right.related
    }

    /// Hashes the place, the path and the message.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(location)
        path.hashExactly(into: &hasher)
        message.hashExactly(into: &hasher)
    }
}

/// A place in a policy file, as editors count: lines and columns from 1, columns in characters (Unicode scalars).
public struct SourceLocation: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The file as the operator named it.
    @Exact public private(set) var file: String
    /// The line, from 1.
    public let line: Int
    /// The column, from 1, in Unicode scalars.
    public let column: Int

    package init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// `file:line:column`.
    public var description: String { "\(file):\(line):\(column)" }

    /// Orders places by file, then line, then column.
    public static func < (left: SourceLocation, right: SourceLocation) -> Bool {
        (ExactText(left.file), left.line, left.column) < (ExactText(right.file), right.line, right.column)
    }
}

/// Text from a file, made safe for a message: one line, no control characters, and short.
enum DisplayText {
    private static let longest = 60

    /// The text between backticks.
    static func quoted(_ text: String) -> String { "`\(shown(text))`" }

    static func shown(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if result.count >= longest {
                result.append("…")
                break
            }
            result.append(contentsOf: shown(scalar))
        }
        return String(result)
    }

    /// A scalar that a terminal can print safely as it is, any other by its code point.
    private static func shown(_ scalar: Unicode.Scalar) -> String.UnicodeScalarView {
        (isSafe(scalar) ? String(scalar) : "<\(codePoint(scalar))>").unicodeScalars
    }

    /// `U+200B`.
    static func codePoint(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        return "U+\(String(repeating: "0", count: max(0, 4 - digits.utf8.count)))\(digits)"
    }

    /// `not ASCII: U+0435, U+200B` for names with such characters; nil when all are ASCII.
    static func codePoints(_ names: [String]) -> String? {
        var found: [Unicode.Scalar] = []
        // The mark of a name that was cut is not of the name.
        for scalar in names.flatMap(\.unicodeScalars)
        where !scalar.isASCII && scalar != "\u{2026}" && scalar != "\u{FFFD}" && !found.contains(scalar)
            && found.count < 8
        {
            found.append(scalar)
        }
        guard !found.isEmpty else { return nil }
        let words = [
            found.contains(fullWidthColon) ? "U+FF1A is a full-width colon: write `:` and a space" : nil,
            found.contains(where: curlyQuotes.contains)
                ? "curly quotes do not quote in YAML: write `\"` or `'`" : nil,
        ]
        return (["not ASCII: \(found.map(codePoint).joined(separator: ", "))"] + words.compactMap(\.self))
            .joined(separator: "; ")
    }

    /// What an input method, or a program for letters, writes in the place of `:`.
    static let fullWidthColon: Unicode.Scalar = "\u{FF1A}"
    /// Such as “ ” „ ‘ ’ ‚, which programs for letters write in the place of straight quotes.
    private static let curlyQuotes: ClosedRange<Unicode.Scalar> = "\u{2018}"..."\u{201F}"

    static func beginsWithCurlyQuote(_ text: String) -> Bool {
        text.unicodeScalars.first.map(curlyQuotes.contains) ?? false
    }

    /// A message, which may quote something that was not made fit before: one line that steers no terminal.
    static func line(_ text: String) -> String {
        guard !text.unicodeScalars.allSatisfy(isSafe) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.flatMap { shown($0) }))
    }

    /// Whether a terminal can print the scalar safely: no controls, no direction overrides.
    static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
