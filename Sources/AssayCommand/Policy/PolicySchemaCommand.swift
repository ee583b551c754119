internal import ArgumentParser
internal import AssayCore
internal import AssayEngine

/// `assay policy schema`.
struct PolicySchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of policy files, for completion in editors.",
        discussion: """
            It covers the sections of all plugins that this program is built with. Editors that know \
            yaml-language-server use it for files that begin with `# yaml-language-server: $schema=PATH`, where PATH is \
            where the output was saved, from the policy file.
            """)

    func run() throws {
        try Terminal.say(PrettyJSON.text(of: try AssayProgram.current.registry().policySchema))
    }
}
