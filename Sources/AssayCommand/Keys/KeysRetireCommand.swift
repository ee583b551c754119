internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay keys retire`.
struct KeysRetireCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "retire",
            abstract: "Take a key out of use permanently; what it signed or sealed stays valid.",
            discussion: """
                A signing key stays published until its last token can have expired: 7 days, the longest lifetime of a token, \
                and a day of reserve. Then it leaves the key set by itself. A sealing key seals no more, and opens what it \
                sealed for ever. The key that is in use can be retired only when a prepared one, whose lead is over, can \
                take its place, which it does. A KID that begins with a hyphen is written after --.

                A signing key that leaked is to be revoked instead: see `\(program) keys revoke --help`.
                """)
    }

    @OptionGroup var folder: KeyFolderOptions

    @Argument(help: "The key, as `\(AssayProgram.current.name) keys list` calls it.")
    var kid: String

    func run() async throws {
        try await folder.change { [kid] (store, now) throws(KeyError) in try store.retire(kid, now: now) }
    }
}
