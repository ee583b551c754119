internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayPolicy
internal import AssayServices

/// `assay keys init`.
struct KeysInitCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "init", abstract: "Make the first keys, where there are none yet.",
            discussion: """
                For a new service whose servers share their keys or their state, once. Such a server does not start without keys: \
                the database may be the wrong one, or may have lost them, and new keys in the place of lost ones shut out every \
                device that was attested before. If the service has had keys, restore them instead.

                    \(program) keys init --keys state:file:/etc/assay/master --state postgres://…

                Keys in a folder beside a database of one server are made by the first start of `\(program) serve`.
                """)
    }

    @OptionGroup var folder: KeyFolderOptions

    @OptionGroup var kind: KeyKindOptions

    func run() async throws {
        let keys = try await folder.run { [kind] (store, now) throws(KeyError) in
            try store.makeFirstKeys(try kind.policy { 2048 }, now: now)
        }
        for key in keys { try Terminal.say(KeyFolderOptions.line(key, HostClock.system.now)) }
    }
}
