internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServer
internal import AssayServices

/// `assay state check`.
struct StateCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check the state for damage, and for missing keys that it was used with.",
        discussion: """
            It makes nothing, and changes nothing that the state holds. The database and its folder must be writable, since SQLite keeps a \
            log next to it.
            """)

    @OptionGroup var options: StateOptions

    func run() async throws {
        var problems: [String]
        do {
            let registry = try AssayProgram.current.registry()
            let findings = try await registry.examineStore(options.state)
            problems = findings.problems
            if problems.isEmpty {
                let name = StateName(options.state, among: AssayProgram.current.stores).shown
                try Terminal.say("\(name) is sound: \(findings.contents.joined(separator: "; "))")
                problems += try await registry.withStore(options.state) { try await compare($0) }
            }
        } catch let error where !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
        for problem in problems { Terminal.report(problem) }
        guard problems.isEmpty else { throw ExitCode.refused }
    }

    /// Compares what the state remembers with the present keys.
    private func compare(_ store: any StateStore) async throws -> [String] {
        let description = try await StateDescription(of: store)
        if let copied = description.copied {
            try Terminal.say(
                "it is a copy that was made at \(copied): tokens and challenges for one use that were issued before a server first uses it are refused, because they may have been used"
            )
        } else if let since = description.completeSince {
            try Terminal.say("it remembers everything that was used since \(since)")
        }
        do {
            try await KeyPlace.with(options.keys, forState: options.state) { keys in
                try await UsedKeys.check(keys.store, in: store, now: HostClock.system.now)
            }
        } catch let error as KeyError {
            return [error.message]
        }
        try Terminal.say("all keys that it was used with are in \(options.keyFolder)")
        return []
    }
}
