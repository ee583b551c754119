internal import ArgumentParser

/// `assay keys`.
struct KeysCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "keys", abstract: "Manage the keys that sign tokens and seal artifacts.",
            discussion: """
                A key is prepared, then active, then retired. A prepared signing key is published, so that backends know it \
                before it signs; a retired one stays published until its last token has expired. A prepared sealing key \
                opens, so that every server of the folder can open what it will seal; a retired one continues to open for ever.

                To replace the key that signs: `\(program) keys prepare --auto`, and no more. It signs 7 hours and 5 minutes later, when no \
                Admin SDK holds a key set without it. To replace the key that seals: `\(program) keys prepare --sealing --auto`.

                The first keys are made by `\(program) keys init`, or by the first start of a server whose keys are in a folder beside \
                its own database. When a policy asks for another algorithm or size, `\(program) serve` \
                prepares a key by itself. Commands may run at the same time, and beside servers.

                Exit codes: 0 when it is so now, 1 when a key's state forbids it, 2 when the command could not run.
                """,
            subcommands: [
                KeysInitCommand.self, KeysListCommand.self, KeysPrepareCommand.self, KeysActivateCommand.self,
                KeysRetireCommand.self,
                KeysRevokeCommand.self, KeysExportCommand.self, KeysImportCommand.self, KeysMasterCommand.self,
                KeysWrapCommand.self,
            ])
    }
}
