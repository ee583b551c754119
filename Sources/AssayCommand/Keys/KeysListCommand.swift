internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay keys list`.
struct KeysListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show the keys, their states, and their next changes.",
        discussion: """
            The newest of each kind first; times are UTC (RFC 3339). With --format json it is one object in one line: \
            `now`, and `keys` with `kind` (signing, sealing), `kid`, `algorithm`, `bits`, `state` (prepared, active, \
            retired, expired, revoked), `created`, `ready` (from when it may be activated), `since` (when it came into \
            its present state, if that was the end of its use), and `next`: null, or an `event` (activatable, begins, \
            retires, unpublished) that happens automatically, and its time: `at`. No key material is shown.
            """)

    @OptionGroup var folder: KeyFolderOptions

    @Option(help: "The output format.")
    var format = KeyFormat.text

    func run() async throws {
        let found = try await folder.run { (store, now) throws(KeyError) in (keys: try store.list(now: now), now: now) }
        switch format {
        case .text: for line in KeyReport.table(found.keys, now: found.now) { try Terminal.say(line) }
        case .json:
            try Terminal.say(String(decoding: KeyReport.json(found.keys, now: found.now).encoded, as: UTF8.self))
        }
    }
}

/// How keys are printed.
enum KeyFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text
    case json
}
