internal import AssayCore

/// What was perhaps meant where libyaml finds an error.
///
/// Hints name lines and columns, and quote nothing of the file.
struct SyntaxHint {
    private let source: YAMLSource

    init(_ source: YAMLSource) {
        self.source = source
    }

    /// - Parameters:
    ///   - problem: libyaml's words.
    ///   - position: where it found the problem.
    func hint(for problem: String, at position: YAMLPosition) -> String? {
        let line = Int(position.line)
        if source.byte(at: position) == UInt8(ascii: "\t") { return "indent with spaces: YAML allows no tabs there" }
        if let mistake = wideBlank(near: line) ?? wideColon(near: line) { return mistake }
        switch ExactText(problem) {
        case "did not find expected key", "did not find expected '-' indicator":
            return indentation(of: line)
        case "mapping values are not allowed in this context":
            return indentation(of: line) ?? secondColon(position) ?? gluedColon(line - 1)
        case "could not find expected ':'":
            return gluedColon(line - 1)
        case "found unknown escape character":
            return "write a backslash in double quotes as `\\\\`, or use single quotes"
        case "found invalid Unicode character escape code":
            return "Unicode has no such character"
        case "found character that cannot start any token":
            return "a text that begins with this character must be in quotes"
        case "did not find expected <document start>" where hasEndMark(before: line):
            return "a line `...` ends the document: remove it"
        default:
            return nil
        }
    }

    /// What to do about a line that begins with a character that looks like a space and is none.
    private func wideBlank(near number: Int) -> String? {
        for number in stride(from: number, through: max(1, number - 2), by: -1) {
            guard let line = source.lineBytes(number), line.count < 4096 else { continue }
            let text = String(decoding: line, as: UTF8.self).unicodeScalars.drop { $0 == " " || $0 == "-" }
            guard let first = text.first, !first.isASCII, first.properties.isWhitespace || !DisplayText.isSafe(first)
            else { continue }
            return "line \(number) begins with the character \(DisplayText.codePoint(first)), which is no space"
        }
        return nil
    }

    /// What to do about a key that ends with a full-width colon.
    private func wideColon(near number: Int) -> String? {
        for number in stride(from: number, through: max(1, number - 2), by: -1) {
            guard let line = source.lineBytes(number), line.count < 4096 else { continue }
            let text = String(decoding: line, as: UTF8.self).unicodeScalars.prefix {
                !"#\"'".unicodeScalars.contains($0)
            }
            guard let colon = text.firstIndex(of: DisplayText.fullWidthColon) else { continue }
            let column = text.distance(from: text.startIndex, to: colon) + 1
            return "the colon at \(number):\(column) is the full-width colon U+FF1A: write `:` and a space"
        }
        return nil
    }

    /// What to do about a line that is indented otherwise than anything above it: often by one space too few or too
    /// many.
    private func indentation(of number: Int) -> String? {
        guard let line = source.lineBytes(number), let own = Self.indentation(line) else { return nil }
        let isItem = Self.itemBlanks(line.dropFirst(own)) != nil
        var levels: [(columns: Int, line: Int)] = []
        var least = Int.max
        for other in stride(from: number - 1, through: max(1, number - Self.farthest), by: -1) where least > 0 {
            guard let line = source.lineBytes(other), let indentation = Self.indentation(line), indentation < least
            else { continue }
            // An item begins a level of its own behind its dash.
            let blanks = Self.itemBlanks(line.dropFirst(indentation))
            if let blanks, indentation + 1 + blanks < least { levels.append((indentation + 1 + blanks, other)) }
            if blanks == nil || isItem { levels.append((indentation, other)) }
            least = indentation
        }
        guard !levels.isEmpty, !levels.contains(where: { $0.columns == own }) else { return nil }
        let more = levels.last { $0.columns > own }
        let fewer = levels.first { $0.columns < own }
        let meant = [more, fewer].compactMap(\.self).map { "\($0.columns), as in line \($0.line)" }
        return "this line is indented by \(Self.spaces(own)): indent it by \(meant.joined(separator: ", or by "))"
    }

    /// How many spaces follow the dash of an item; nil for text that begins no item.
    private static func itemBlanks(_ text: ArraySlice<UInt8>) -> Int? {
        guard text.first == UInt8(ascii: "-") else { return nil }
        let blanks = text.dropFirst().prefix { $0 == UInt8(ascii: " ") }.count
        return blanks > 0 || text.count == 1 ? max(blanks, 1) : nil
    }

    /// How far up the levels of indentation are looked for.
    private static let farthest = 1000

    /// The spaces before the text of a line; nil for a blank line, a comment, and one that is indented with tabs.
    private static func indentation(_ line: ArraySlice<UInt8>) -> Int? {
        let text = line.drop { $0 == UInt8(ascii: " ") }
        guard let first = text.first, first != UInt8(ascii: "#"), first != UInt8(ascii: "\t") else { return nil }
        return line.count - text.count
    }

    private static func spaces(_ count: Int) -> String {
        count == 1 ? "1 space" : "\(count) spaces"
    }

    /// A second `: ` in a line, as in `name: a: b`.
    private func secondColon(_ position: YAMLPosition) -> String? {
        guard let line = source.lineBytes(Int(position.line)), line.count < 4096 else { return nil }
        let before = line.prefix(Int(position.column) - 1)
        let hasColon = zip(before, before.dropFirst()).contains { $0 == (UInt8(ascii: ":"), UInt8(ascii: " ")) }
        return hasColon ? "a text that contains `: ` must be in quotes" : nil
    }

    /// A key whose colon is not followed by a space, as in `name:value`.
    private func gluedColon(_ number: Int) -> String? {
        guard let line = source.lineBytes(number), let colon = line.firstIndex(of: UInt8(ascii: ":")),
            colon + 1 < line.endIndex, line[colon + 1] != UInt8(ascii: " ")
        else { return nil }
        return "write a space after the colon in line \(number)"
    }

    private func hasEndMark(before number: Int) -> Bool {
        (1..<max(1, number)).contains { source.lineBytes($0)?.starts(with: "...".utf8) ?? false }
    }
}
