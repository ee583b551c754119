internal import ArgumentParser
internal import AssayCore
internal import AssayEngine

/// `assay keys retire`.
struct KeysRetireCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Take a key out of use permanently; what it signed or sealed stays valid.",
        discussion: """
            A signing key stays published until its last token can have expired: 7 days, the longest lifetime of a \
            token, and a day of reserve. Then it leaves the key set automatically. A sealing key no longer seals, but \
            opens what it sealed, forever. The key that is in use can be retired only when a prepared one, whose lead \
            is over, can take its place, which it does. A KID that begins with a hyphen is written after --.

            Revoke a signing key that leaked instead: see `assay keys revoke --help`.
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Argument(help: "The key, by its name in `assay keys list`.")
    var kid: String

    func run() throws {
        try folder.change { (store, now) throws(KeyError) in try store.retire(kid, now: now) }
    }
}
