import AssayCore
import AssayYAML
import Foundation
import Testing

/// Formatting keeps what each text of this repository says.
struct FormattingCorpusTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../../.."
    )
    .standardizedFileURL

    private static func files(_ endings: String...) -> [URL] {
        let keys: [URLResourceKey] = [.isDirectoryKey]
        guard let walk = FileManager.default.enumerator(at: root, includingPropertiesForKeys: keys) else { return [] }
        var found: [URL] = []
        for case let file as URL in walk {
            if [".build", ".git", "node_modules", ".venv"].contains(file.lastPathComponent) { walk.skipDescendants() }
            if endings.contains(file.pathExtension) { found.append(file) }
        }
        return found.sorted { $0.path < $1.path }
    }

    /// Formats a text, unless it is one that is not accepted; tells whether it was.
    private func format(_ text: String) throws -> Bool {
        guard (try? parse(text)) != nil else { return false }
        try expectSame(text)
        return true
    }

    @Test func `Each YAML file keeps what it says`() throws {
        let files = Self.files("yaml", "yml")
        #expect(files.count >= 14)
        var accepted = 0
        for file in files { accepted += try format(String(contentsOf: file, encoding: .utf8)) ? 1 : 0 }
        // Envoy's files have tags.
        #expect(accepted >= 11)
    }

    @Test func `The example policies are formatted`() throws {
        for file in Self.files("yaml") where file.deletingLastPathComponent().lastPathComponent == "policies" {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(try formatted(text) == text, "\(file.path): run `assay policy fmt` on its folder")
        }
    }

    @Test func `Each example of the documentation keeps what it says`() throws {
        var accepted = 0
        for page in Self.files("md") {
            let lines = try String(contentsOf: page, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            var block: [Substring]?
            for line in lines {
                let isFence = line.drop { $0 == " " }.hasPrefix("```")
                if isFence, let text = block {
                    accepted += try format(text.joined(separator: "\n")) ? 1 : 0
                    block = nil
                } else if isFence {
                    block = line.contains("yaml") ? [] : nil
                } else {
                    block?.append(line)
                }
            }
        }
        #expect(accepted >= 12)
    }

    @Test func `Each text in the tests' sources that is YAML keeps what it says`() throws {
        var accepted = 0
        for file in Self.files("swift") where file.path.contains("/Tests/") {
            for text in SwiftStrings(try String(contentsOf: file, encoding: .utf8))
            where text.utf8.contains(UInt8(ascii: ":")) {
                accepted += try format(text) ? 1 : 0
            }
        }
        #expect(accepted >= 1200)
    }
}

/// The string literals of a Swift source, roughly: enough to find texts in it.
private struct SwiftStrings: Sequence, IteratorProtocol {
    private var rest: Substring

    init(_ source: String) {
        rest = source[...]
    }

    mutating func next() -> String? {
        guard let start = rest.firstIndex(of: "\"") else { return nil }
        let isLong = rest[start...].hasPrefix("\"\"\"")
        let mark = isLong ? "\"\"\"" : "\""
        var text = ""
        rest = rest[start...].dropFirst(mark.count)
        while let character = rest.first, !rest.hasPrefix(mark), isLong || character != "\n" {
            rest = rest.dropFirst()
            guard character == "\\", let escape = rest.first else {
                text.append(character)
                continue
            }
            switch escape {
            case "n": text.append("\n")
            case "t": text.append("\t")
            case "r": text.append("\r")
            case "(": text.append("x")
            default: text.append(escape)
            }
            rest = rest.dropFirst()
        }
        rest = rest.hasPrefix(mark) ? rest.dropFirst(mark.count) : rest.dropFirst()
        return text
    }
}
