internal import ArgumentParser

/// `assay policy`.
struct PolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Work with policy files.",
        subcommands: [
            PolicyCheckCommand.self, PolicyFormatCommand.self, PolicyShowCommand.self, PolicyExplainCommand.self,
            PolicyDiffCommand.self, PolicyTestCommand.self, PolicySchemaCommand.self, PolicyKeysCommand.self,
            BundleCommand.self,
        ])
}
