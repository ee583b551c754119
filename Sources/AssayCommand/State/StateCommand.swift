internal import ArgumentParser
internal import AssayServer

/// `assay state`.
struct StateCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "state", abstract: "Copy, check and migrate the state, while servers use it.",
            discussion: """
                The state is what was used (challenges, tokens), the counters of devices, the receipts and debug tokens that are \
                kept. The keys are beside it, and matter more: without the sealing keys no device that was attested is recognised.

                Never copy the database with cp: the newest writes are in the file beside it that ends in -wal.

                To restore: end all servers; remove the database with its -wal and -shm; put the copy in its place, and keys.json \
                into the folder of keys; run `\(program) state check`; start. The copy knows that it is one: tokens for limited use \
                and challenges that were issued before are refused, since they may have been used after the copy was made. \
                Apps fetch new ones.

                Exit codes: 0 when all went well, 1 when something is damaged or missing, 2 when the command could not run.
                """,
            subcommands: [StateBackupCommand.self, StateCheckCommand.self, StateMigrateCommand.self])
    }
}

/// Which state, and which keys, as `assay serve` is told.
struct StateOptions: ParsableArguments {
    @Option(help: "Where state is kept, as `\(AssayProgram.current.name) serve` is told.")
    var state = AssayProgram.current.state

    @Option(
        help: ArgumentHelp(
            "The folder of the keys, or a key vault, as `\(AssayProgram.current.name) serve` is told. By default a folder beside the state's file.",
            valueName: "folder"
        ))
    var keys: String?

    var keyFolder: String {
        get throws { try keys ?? KeyFolder.standard(forState: state, among: AssayProgram.current.stores) }
    }
}
