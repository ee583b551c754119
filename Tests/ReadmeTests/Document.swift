import Foundation

/// A page of the documentation: a Markdown file of the repository.
struct Document {
    struct CodeBlock {
        /// The word behind the fence; empty where there is none.
        let language: String
        let code: String
    }

    static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    static let articles = "Sources/AssayEngine/AssayEngine.docc"

    /// From the top of the repository.
    let path: String
    let blocks: [CodeBlock]
    /// The lines that are not code.
    let prose: [String]

    init(_ path: String) throws {
        self.path = path
        let text = try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
        var blocks: [CodeBlock] = []
        var prose: [String] = []
        var language: String?
        var code = ""
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let open = language {
                if line == "```" {
                    blocks.append(CodeBlock(language: open, code: code))
                    language = nil
                } else {
                    code += "\(line)\n"
                }
            } else if line.hasPrefix("```") {
                language = String(line.dropFirst(3))
                code = ""
            } else {
                prose.append(String(line))
            }
        }
        self.blocks = blocks
        self.prose = prose
    }

    /// README.md, the pages under .github, and those of all DocC catalogs.
    static func all() throws -> [Document] {
        var paths = ["README.md"]
        for name in try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(".github").path)
        where name.hasSuffix(".md") {
            paths.append(".github/\(name)")
        }
        for folder in ["Sources", "Plugins"] {
            let files = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)
            while let name = files?.nextObject() as? String {
                if name.contains(".docc/"), name.hasSuffix(".md") { paths.append("\(folder)/\(name)") }
            }
        }
        return try paths.sorted().map { try Document($0) }
    }

    /// Where the page's links lead: addresses, or paths with or without an anchor.
    var links: [String] {
        prose.flatMap { line in
            line.replacing(#/`[^`]*`/#, with: "").matches(of: #/\]\(([^)\s]+)\)/#).map { String($0.output.1) }
        }
    }

    /// The pages of the same catalog that DocC is told to list here.
    var topics: [String] {
        prose.flatMap { line in line.matches(of: #/<doc:([A-Za-z]+)>/#).map { String($0.output.1) } }
    }

    /// The anchors of the page's headings, as GitHub makes them.
    var anchors: Set<String> {
        var anchors: Set<String> = []
        for line in prose {
            let level = line.prefix { $0 == "#" }.count
            guard (1...6).contains(level), line.dropFirst(level).hasPrefix(" ") else { continue }
            let anchor = String(
                line.dropFirst(level + 1).lowercased().compactMap { character -> Character? in
                    if character == " " { return "-" }
                    return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
                })
            var number = 0
            while !anchors.insert(number == 0 ? anchor : "\(anchor)-\(number)").inserted { number += 1 }
        }
        return anchors
    }

    /// The cells of the table whose first column has this heading, row by row, without the headings.
    func table(under heading: String) -> [[String]] {
        guard let start = prose.firstIndex(where: { $0.hasPrefix("| \(heading) |") }) else { return [] }
        return prose.dropFirst(start + 2).prefix { $0.hasPrefix("|") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
    }

    /// The path and the anchor that a relative link of this page leads to; nil for links to other places.
    func destination(of link: String) -> (path: String, anchor: String?)? {
        guard !link.contains("://"), !link.hasPrefix("mailto:") else { return nil }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let anchor = parts.count > 1 ? parts[1] : nil
        guard !parts[0].isEmpty else { return (path, anchor) }
        let file = Self.root.appendingPathComponent(path).deletingLastPathComponent().appendingPathComponent(parts[0])
            .standardizedFileURL.path
        let top = Self.root.standardizedFileURL.path + "/"
        return (file.hasPrefix(top) ? String(file.dropFirst(top.count)) : file, anchor)
    }
}
