internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay keys import`.
struct KeysImportCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "import", abstract: "Copy all keys of a folder to the place of --keys, which has none yet.",
            discussion: """
                For a service that moves its keys, for example from a folder to the state store: stop all servers, import, and \
                start them with the new --keys. Signing and sealing keys stay what they are, so that tokens and artifacts stay \
                valid. Then remove the folder: who has it can issue tokens.

                    \(program) keys import assay.sqlite-keys --keys state:file:/etc/assay/master --state sqlite:assay.sqlite
                """)
    }

    @OptionGroup var folder: KeyFolderOptions

    @Argument(help: ArgumentHelp("The folder with the keys.", valueName: "from"), completion: .directory)
    var source: String

    func run() async throws {
        let count = try await folder.run { [source] (store, now) throws(KeyError) in
            try store.take(from: .directory(source), now: now)
        }
        try Terminal.say("\(count) keys of \(source) were imported")
    }
}
