internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay keys activate`.
struct KeysActivateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "activate", abstract: "Let a prepared key sign or seal, instead of the present one.",
        discussion: """
            The present one is retired in the same step. Before the lead of the key is over, this is refused, and says \
            when it will not be; --now does it anyway. A KID that begins with a hyphen is written after --.
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Argument(help: "The key, as `\(AssayProgram.current.name) keys list` calls it.")
    var kid: String

    @Flag(help: "Do not wait for the lead: backends with an older key set refuse its tokens until they fetch it again.")
    var now = false

    func run() async throws {
        try await folder.change { [kid, now] (store, time) throws(KeyError) in
            try store.activate(kid, beforeItsTime: now, now: time)
        }
    }
}
