internal import ArgumentParser
internal import AssayCore

/// The command `assay`.
@main
struct Assay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assay",
        abstract: "Self-hosted App Check: verifies that calls come from genuine apps, and issues tokens that say so.",
        discussion: """
            Begin with `assay demo`: it needs no configuration. Then write policies, check them with `assay policy \
            check DIR`, and serve them with `assay serve --policies DIR`.

            Exit codes: 0 when all went well, 1 when something was refused or failed, 2 when the command could not run.
            """,
        version: AssayVersion.text,
        subcommands: [
            ServeCommand.self, DemoCommand.self, VerifyCommand.self, PolicyCommand.self, KeysCommand.self,
            StateCommand.self,
            MethodsCommand.self, ReasonsCommand.self, MetricsCommand.self, DebugTokenCommand.self,
            CallerTokenCommand.self,
            FakeAppleCommand.self,
        ])

    static func main() async {
        // Before anything secret is read.
        CoreDumps.forbid()
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let error as OutputError {
            Terminal.complain("assay: cannot write to standard output: \(error)")
            exit(withError: ExitCode.couldNotRun)
        } catch {
            // A wrong command line counts as "could not run": 2, as with other tools, not 64.
            guard exitCode(for: error) == .validationFailure else { exit(withError: error) }
            Terminal.complain(fullMessage(for: error))
            exit(withError: ExitCode.couldNotRun)
        }
    }
}

extension ExitCode {
    /// Something was refused, or did not end as expected.
    static let refused = ExitCode(1)
    /// The command could not do its work: wrong usage, an unreadable file, a port that is taken.
    static let couldNotRun = ExitCode(2)
}
