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
