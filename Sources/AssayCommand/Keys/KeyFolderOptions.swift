internal import ArgumentParser
internal import AssayCore
internal import AssayEngine

/// Where the keys are, as `assay serve` is told.
struct KeyFolderOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder of the keys. By default next to the state's file, or in ~/.local/state/assay/keys when the "
                + "state is in memory.", valueName: "folder"))
    var keys: String?

    @Option(
        help:
            "Where state is kept, as `\(AssayProgram.current.name) serve` is told: says where the keys are when --keys does not."
    )
    var state = AssayProgram.current.state

    /// Works with the keys at this time, in whole seconds; what goes wrong is said, and becomes an exit code.
    func run(_ body: (KeyStore, Instant) throws(KeyError) -> Void) throws {
        do throws(KeyError) {
            try body(
                .directory(keys ?? KeyFolder.standard(forState: state)), Instant(seconds: HostClock.system.now.seconds))
        } catch {
            Terminal.report(error)
            throw error.isRefusal ? ExitCode.refused : ExitCode.couldNotRun
        }
    }

    /// Changes a key; says what it is then, and which key is in use where that is another one.
    func change(_ body: (KeyStore, Instant) throws(KeyError) -> KeyDescription) throws {
        var lines: [String] = []
        try run { (store, now) throws(KeyError) in
            let changed = try body(store, now)
            lines.append(KeyFolderOptions.line(changed, now))
            guard changed.state != .prepared, changed.state != .active else { return }
            let inUse = try store.list(now: now).first { $0.purpose == changed.purpose && $0.state == .active }
            if let inUse { lines.append(KeyFolderOptions.line(inUse, now)) }
        }
        for line in lines { try Terminal.say(line) }
    }

    private static func line(_ key: KeyDescription, _ now: Instant) -> String {
        "\(key.purpose.rawValue) key \(key.id) (\(key.algorithm), \(key.bits) bits) is \(key.state.rawValue): "
            + KeyReport.outlook(key, now: now)
    }
}
