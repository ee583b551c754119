internal import ArgumentParser

/// `assay verify`.
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Verify evidence offline.", subcommands: [VerifyAppAttestCommand.self])
}
