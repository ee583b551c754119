internal import ArgumentParser

/// `assay decisions`.
struct DecisionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decisions", abstract: "Work with decisions that were made: judge captured evidence again.",
        subcommands: [DecisionsReplayCommand.self, DecisionsKeygenCommand.self])
}
