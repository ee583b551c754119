internal import ArgumentParser
internal import AssayCore

#if Processes
internal import AssayProcesses
#endif

/// `assay plugins`.
struct PluginsCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        var commands: [any ParsableCommand.Type] = [PluginsListCommand.self]
        #if Processes
        commands.append(PluginsSchemaCommand.self)
        #endif
        return CommandConfiguration(
            commandName: "plugins", abstract: "Look at the plugins of this program.", subcommands: commands)
    }
}

#if Processes
/// `assay plugins schema`.
struct PluginsSchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Print the JSON Schema (2020-12) of plugins.yaml, for completion in editors.",
        discussion: """
            The file lies in the folder of policies, and names the plugins that run in processes of their own. \
            `assay policy schema` prints the schema of policies.
            """)

    func run() throws {
        try Terminal.say(PrettyJSON.text(of: PluginsFile.schema))
    }
}
#endif
