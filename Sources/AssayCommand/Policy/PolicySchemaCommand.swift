internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServer
internal import AssayYAML

/// `assay policy schema`.
struct PolicySchemaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of policy files, for completion in editors.",
        discussion: """
            It covers the sections of all plugins that this program is built with. Editors that know \
            yaml-language-server use it for files that begin with `# yaml-language-server: $schema=PATH`, where PATH is \
            where the output was saved, from the policy file.
            """)

    @Option(
        help: ArgumentHelp(
            "The folder of policies whose plugins in other processes are covered, too.", valueName: "folder"),
        completion: .directory)
    var policies: String?

    @Flag(help: "Print the schema of files with tests of policies, *_test.yaml.")
    var tests = false

    func run() async throws {
        guard let policies else {
            return try Terminal.say(PrettyJSON.text(of: try schema(AssayProgram.current.registry())))
        }
        do {
            try await PluginProcesses.with(in: PolicyDirectory(policies)) { registry in
                try Terminal.say(PrettyJSON.text(of: try schema(registry)))
            }
        } catch let problems as Diagnostics {
            for problem in problems.all { Terminal.note(problem.description) }
            throw ExitCode.refused
        }
    }

    private func schema(_ registry: Registry) throws -> JSON {
        tests ? registry.testSchema(simulators: try AssayProgram.current.simulators) : registry.policySchema
    }
}
