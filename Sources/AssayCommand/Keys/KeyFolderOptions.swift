internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// Where the keys are, as `assay serve` is told.
struct KeyFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the keys, or a key vault as SCHEME:LOCATION, such as state:MASTERKEY in the state store. By default "
                + "a folder next to the state's file, or ~/.local/state/assay/keys when the state is in memory.",
            valueName: "folder"),
        completion: .directory)
    var keys: String?

    @Option(
        help:
            "Where state is kept, as `\(AssayProgram.current.name) serve` is told: says where the keys are when --keys does not, and has those of --keys state:MASTERKEY."
    )
    var state = AssayProgram.current.state

    /// Works with the keys at this time, in whole seconds; what goes wrong is said, and becomes an exit code.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (KeyStore, Instant) throws(KeyError) -> Value
    ) async throws -> Value {
        do {
            return try await KeyPlace.with(keys, forState: state) { keys in
                try await keys.store.perform { (store) throws(KeyError) in
                    try body(store, Instant(seconds: HostClock.system.now.seconds))
                }
            }
        } catch {
            Terminal.report(error)
            throw (error as? KeyError)?.isRefusal ?? false ? ExitCode.refused : ExitCode.couldNotRun
        }
    }

    /// Changes a key; says what it is then, and which key is in use where that is another one.
    func change(
        _ body: @escaping @Sendable (KeyStore, Instant) throws(KeyError) -> KeyDescription
    ) async throws {
        let lines = try await run { (store, now) throws(KeyError) -> [String] in
            let changed = try body(store, now)
            let line = KeyFolderOptions.line(changed, now)
            guard changed.state != .prepared, changed.state != .active else { return [line] }
            let inUse = try store.list(now: now).first { $0.purpose == changed.purpose && $0.state == .active }
            return [line] + (inUse.map { [KeyFolderOptions.line($0, now)] } ?? [])
        }
        for line in lines { try Terminal.say(line) }
    }

    static func line(_ key: KeyDescription, _ now: Instant) -> String {
        "\(key.purpose.rawValue) key \(key.id) (\(key.algorithm), \(key.bits) bits) is \(key.state.rawValue): "
            + KeyReport.outlook(key, now: now)
    }
}
