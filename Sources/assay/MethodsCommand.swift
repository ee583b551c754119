internal import ArgumentParser
internal import AssayEngine
internal import AssayKit

/// `assay methods`.
struct MethodsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "methods",
        abstract: "List the methods that this program serves, and how they are called over HTTP.")

    func run() throws {
        for method in try Plugins.registry().methods {
            if case .notOffered = method.kind { continue }
            try Terminal.say(method.name)
            for rule in method.rules { try Terminal.say("  \(rule)") }
        }
    }
}
