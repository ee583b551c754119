internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy

/// `assay methods`.
struct MethodsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "methods",
        abstract: "List the methods of this program, and how they are called over HTTP.",
        discussion: """
            As text, each method's name and its HTTP rules, in the form of google.api.http.

            With --format openapi, a description in OpenAPI 3.1: the paths with their parameters, the messages, the \
            permissions, and every status. With --policies, it describes what these policies serve: the methods of the \
            providers that they name, and the names of their projects, apps and OAuth clients.
            """)

    @Option(help: "The output format.")
    var format = MethodsFormat.text

    @Option(help: "With --format openapi: the folder of the policies to describe.", completion: .directory)
    var policies: String?

    func validate() throws {
        if policies != nil, format == .text { throw ValidationError("--policies needs --format openapi.") }
    }

    func run() throws {
        let registry = try AssayProgram.current.registry()
        let methods = registry.methods.filter { method in
            if case MethodDescriptor.Kind.notOffered = method.kind { false } else { true }
        }
        switch format {
        case .text:
            for method in methods {
                try Terminal.say(method.name)
                for rule in method.rules { try Terminal.say("  \(rule)") }
            }
        case .openapi:
            let served = try policies.map { ServedNames(try PolicyDirectory($0).load()) }
            let document = OpenAPIDocument(methods: methods, owner: registry.plugin, served: served)
            try Terminal.say(PrettyJSON.text(of: document.json))
        }
    }
}

/// How `assay methods` prints them.
enum MethodsFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text
    case openapi
}
