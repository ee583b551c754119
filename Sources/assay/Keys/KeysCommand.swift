internal import ArgumentParser

/// `assay keys`.
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Manage the keys that sign tokens and seal artifacts.",
        discussion: """
            A key is prepared, then active, then retired. A prepared signing key is published, so that backends know \
            it before it signs; a retired one stays published until its last token has expired. A prepared sealing key \
            opens, so that every server of the folder can open what it will seal; a retired one still opens, forever.

            To replace the signing key: `assay keys prepare --auto`. It signs six hours later, when no Admin SDK has a \
            key set without it. To replace the sealing key: `assay keys prepare --sealing --auto`.

            The first keys are made by `assay serve`. When a policy asks for another algorithm or size, `assay serve` \
            prepares a key by itself. Commands may run at the same time, and beside servers.

            Exit codes: 0 when it is so now, 1 when a key's state forbids it, 2 when the command could not run.
            """,
        subcommands: [
            KeysListCommand.self, KeysPrepareCommand.self, KeysActivateCommand.self, KeysRetireCommand.self,
            KeysRevokeCommand.self, KeysExportCommand.self,
        ])
}
