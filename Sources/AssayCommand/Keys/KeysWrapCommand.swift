internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServices

/// `assay keys wrap`.
struct KeysWrapCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "wrap", abstract: "Show, add and remove the master keys of the keys in the state.",
            discussion: """
                For --keys state:MASTERKEY: a random data key encrypts the keys, and each master key wraps the data key. A server \
                needs one of the master keys. To replace one while servers run:

                1. Make the new one, and give it to every server: `\(program) keys master --new file:NEW`.
                2. `\(program) keys wrap add file:NEW --keys state:file:OLD --state …`. Servers with the old one continue.
                3. Restart the servers one after another with --keys state:file:NEW. Either of them can read, and change keys.
                4. When none has the old one: `\(program) keys wrap remove OLD-ID --keys state:file:NEW --state …`. It makes a new \
                   data key, so that the old master key opens nothing that is written from then on. Keep it as long as backups \
                   of the state that were made before.

                If a master key has leaked together with a copy of the state, the keys have leaked: replace and revoke them, too.
                """,
            subcommands: [ListCommand.self, AddCommand.self, RemoveCommand.self])
    }

    /// The place of the keys, and what is done there.
    struct Options: ParsableArguments {
        @OptionGroup var folder: KeyFolderOptions

        /// Works with the vault, and shows the master keys that it has then.
        func run(_ body: (StateKeyVault, StorageHost) async throws -> Void) async throws {
            do {
                let (ids, own) = try await KeyPlace.withStateVault(folder.keys, forState: folder.state) { vault, host in
                    try await body(vault, host)
                    return (try await vault.wrappings(), vault.masterKey)
                }
                if ids.isEmpty { try Terminal.say("there are no keys yet") }
                for id in ids { try Terminal.say(id == own ? "\(id) (of --keys)" : "\(id)") }
            } catch let error where !(error is OutputError) {
                Terminal.report(error)
                throw ExitCode.couldNotRun
            }
        }
    }

    /// `assay keys wrap list`.
    struct ListCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the identifiers of the master keys that can open the keys.")

        @OptionGroup var options: Options

        func run() async throws {
            try await options.run { _, _ in }
        }
    }

    /// `assay keys wrap add`.
    struct AddCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Let another master key open the keys as well.")

        @OptionGroup var options: Options

        @Argument(help: "The other master key: file:PATH, env:NAME or pkcs11:…")
        var masterKey: String

        func run() async throws {
            try await options.run { vault, host in
                try await vault.addWrapping(by: try await MasterKeyPlace(masterKey).open(host))
            }
        }
    }

    /// `assay keys wrap remove`.
    struct RemoveCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Take master keys out of use, and encrypt the keys again.",
            discussion: """
                Only the master key of --keys may remain. Servers that have only the removed ones follow no changes from then on, \
                say so, decide nothing six hours later, and do not start again.
                """)

        @OptionGroup var options: Options

        @Argument(help: "The identifiers, as `\(AssayProgram.current.name) keys wrap list` shows them.")
        var ids: [String]

        func run() async throws {
            try await options.run { vault, _ in
                try await vault.removeWrappings(
                    ids.map { text in
                        guard let id = MasterKeyID(text) else {
                            throw KeyVaultError("'\(SafeText.of(text, limit: 40))' is no identifier of a master key")
                        }
                        return id
                    })
            }
        }
    }
}
