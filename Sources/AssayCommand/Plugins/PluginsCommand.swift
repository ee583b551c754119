internal import ArgumentParser

/// `assay plugins`.
struct PluginsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins", abstract: "Look at the plugins of this program.", subcommands: [PluginsListCommand.self]
    )
}
