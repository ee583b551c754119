internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServer
internal import AssayServices

/// `assay state backup`.
struct StateBackupCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "backup",
            abstract: "Write a copy of the state, and optionally of the keys, while servers use them.",
            discussion: """
                The copy is whole, as the state was at one instant. With --with-keys the keys are written to FILE-keys, so that \
                `\(program) serve --state sqlite:FILE` finds both. Everybody who can read that folder can issue tokens, so keep it as secret \
                as the keys themselves. Nothing is overwritten, and the folder of FILE must exist.
                """)
    }

    @OptionGroup var options: StateOptions

    @Flag(help: "Copy the keys as well, to FILE-keys.")
    var withKeys = false

    @Argument(help: ArgumentHelp("The file to write.", valueName: "file"), completion: .file())
    var file: String

    private func withOpenKeys(_ body: (OpenKeys) async throws -> Void) async throws {
        try await KeyPlace.with(options.keys, forState: options.state, body)
    }

    func run() async throws {
        do {
            let folder = "\(file)-keys"
            // The keys first: a disk that is full then holds a copy without state, and never a state that nobody can use.
            if withKeys { try await withOpenKeys { try $0.store.copy(to: folder) } }
            do {
                try await AssayProgram.current.registry().copyStore(options.state, to: file, now: HostClock.system.now)
            } catch {
                // So that the command can be repeated under the same name.
                if withKeys { KeyStore.removeCopy(in: folder) }
                throw error
            }
            // The state may know a key that was made meanwhile.
            if withKeys { try await withOpenKeys { try $0.store.copyAgain(to: folder) } }
            try Terminal.say(
                "\(StateName(options.state, among: AssayProgram.current.stores).shown) was copied to \(file)")
            if withKeys { try Terminal.say("the keys in \(try options.keyFolder) were copied to \(folder)") }
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
