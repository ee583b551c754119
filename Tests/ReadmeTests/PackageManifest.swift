import Foundation

/// What Package.swift says, read as text.
enum PackageManifest {
    /// The modules that are no tests, each with those of the package that it depends on.
    static func dependencies() throws -> [String: Set<String>] {
        let text = try String(contentsOf: Document.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        var found: [String: Set<String>] = [:]
        for declaration in text.components(separatedBy: "\n        .") {
            let kinds = ["target(", "executableTarget(", "systemLibrary("]
            guard kinds.contains(where: { declaration.hasPrefix($0) }), !declaration.contains("path: \"Tests/"),
                let name = declaration.firstMatch(of: #/name: "([^"]+)"/#)?.output.1
            else { continue }
            let list = (declaration.components(separatedBy: "dependencies: [").dropFirst().first ?? "")
                .replacing(#/, condition: \.when\(traits: \[[^\]]*\]\)/#, with: "")
            let own = String(list.prefix { $0 != "]" })
                .replacing(#/[/]{2}[^\n]*/#, with: "").replacing(#/\.product\([^)]*\)/#, with: "")
            found[String(name)] = Set(list.isEmpty ? [] : own.matches(of: #/"([^"]+)"/#).map { String($0.output.1) })
        }
        return found
    }

    /// The traits, each with those that it implies, and the ones that are on by default.
    static func traits() throws -> (implied: [String: Set<String>], standard: Set<String>) {
        let text = try String(contentsOf: Document.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        let plugins = Set(
            text.prefix(upTo: text.range(of: "let package = ")?.lowerBound ?? text.startIndex)
                .matches(of: #/\n    "(\w+)": "/#).map { String($0.output.1) })
        var implied = Dictionary(uniqueKeysWithValues: plugins.map { ($0, Set(["Server"])) })
        let section =
            text.components(separatedBy: "\n    traits: [").dropFirst().first?
            .components(separatedBy: "\n    ],").first ?? ""
        func names(_ list: Substring) -> Set<String> { Set(list.matches(of: #/"(\w+)"/#).map { String($0.output.1) }) }
        for declaration in section.components(separatedBy: ".trait(").dropFirst() {
            guard let name = declaration.firstMatch(of: #/name: "(\w+)"/#)?.output.1 else { continue }
            let list = declaration.firstMatch(of: #/enabledTraits: (.*)/#)?.output.1 ?? ""
            implied[String(name)] = names(list).union(list.contains("plugins.map") ? plugins : [])
        }
        let standard = section.firstMatch(of: #/\.default\(enabledTraits: (.*)/#)?.output.1 ?? ""
        return (implied, names(standard))
    }

    /// All that can be reached from a module.
    static func reached(from module: String, by edges: [String: Set<String>]) -> Set<String> {
        var reached: Set<String> = []
        var waiting = Array(edges[module] ?? [])
        while let next = waiting.popLast() {
            if reached.insert(next).inserted { waiting += edges[next] ?? [] }
        }
        return reached
    }
}
