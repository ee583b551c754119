internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay keys revoke`.
struct KeysRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "Withdraw a key after a leak, with every token that it signed, or every artifact that it sealed.",
        discussion: """
            A signing key leaves the key set at once. All of its tokens, those of genuine apps too, are refused by every \
            backend that fetches the key set from then on. A backend that fetched it before still accepts them, and \
            tokens of a thief, until it fetches it again: with Admin SDKs up to 6 hours later, or when it is \
            restarted. Apps are refused until they get a new token, at their next refresh.

            If it is the active key, the prepared key that was published longest takes its place; without one, a new \
            key is made. It signs at once, whether its lead is over or not: backends that hold an older key set refuse \
            its tokens until they fetch it. A key that was prepared some hours ago spares you that.

            A sealing key opens nothing any more, which needs --losing-devices: every device that was attested under it \
            must attest again, and apps with Google's SDK must be installed again. As long as the key is not revoked, a thief \
            who has it can make artifacts, and get tokens with them. Another key seals from then on.

            Running servers follow within seconds. This cannot be undone.
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Argument(
        help: "The key, as `\(AssayProgram.current.name) keys list` calls it; after -- when it begins with a hyphen.")
    var kid: String

    @Flag(help: "Revoke a sealing key, though the devices that were attested under it must attest again.")
    var losingDevices = false

    func run() async throws {
        try await folder.change { [kid, losingDevices] (store, now) throws(KeyError) in
            try store.revoke(kid, losingDevices: losingDevices, now: now)
        }
    }
}
