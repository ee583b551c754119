internal import ArgumentParser
internal import AssayEngine
internal import AssayServices

/// `assay state migrate`.
struct StateMigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Make or change the tables of a state, with the rights that this takes.",
        discussion: """
            Servers do it themselves when they start, if they may. Run this before they start when their role may not: with a \
            location whose role may, at the first start and before each new release. It can be repeated, and servers of the \
            release before continue meanwhile. A state in a file needs none of it.
            """)

    @Option(help: "Where state is kept, with a role that may make tables.")
    var state = AssayProgram.current.state

    func run() async throws {
        do {
            try Terminal.say(try await AssayProgram.current.registry().migrateStore(state))
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
