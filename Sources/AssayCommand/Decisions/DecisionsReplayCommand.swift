internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServer
internal import AssayServices
internal import AssayYAML

/// `assay decisions replay`.
struct DecisionsReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Judge captured evidence again, with this program and its policies; offline.",
        discussion: """
            Decrypts the records of a server with `--capture`, and has each judged by the plugins of this program under the \
            policies of a folder: at the time of the request, with the state as the provider saw it. It shows what came out \
            then and what comes out now: `same` if the outcome, the reason and the rule are the same.

            Challenges count as valid, since only the service can judge them, and rate limits are not applied. Evidence is \
            not judged if it was left out of its record, if its challenge was refused, or if the provider needs another \
            server, or state that it did not read then. A write to the state that was not made then is taken to succeed; \
            `assumed` says so.

            With --format json, standard output has one JSON object a line: `decision`, `time`, `resource`, `provider`, \
            `method`, `then` and `now` (each with `outcome`, `reason`, `detail`, `rule`), `result` (same, different, \
            not_judged), `assumed`; the last line is {"summary": …}.

            Exits with 0 when nothing is different, with 1 when something is, and with 2 when it could not run, when a \
            record could not be read, or when there is none.
            """)

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("Files of captured evidence, or folders with them.", valueName: "path"))
    var evidence: [String]

    @OptionGroup var selection: EvidenceSelection

    @Option(help: "The folder of the policies to judge by.")
    var policies = "policies"

    @Option(
        help: "Only evidence from this time on: 2026-11-24T08:15:00Z, 2026-11-24, or 2h before now.", valueName: "time",
        reading: .past)
    var since: Instant?

    @Option(help: ArgumentHelp("Only this app or OAuth client: its ID, or its resource name.", valueName: "app"))
    var app: String?

    @Option(help: "The output format.")
    var format = ReplayFormat.text

    func run() async throws {
        do {
            let key = try EvidenceKey.read(selection.key)
            let paths = try EvidencePaths(evidence)
            let directory = PolicyDirectory(policies)
            let tally = try await PluginProcesses.with(in: directory) { registry in
                let replay = try EvidenceReplay(directory.read(), registry: registry)
                var tally = ReplayTally(format)
                try await paths.read(with: key, wants: wants) { record in
                    switch record {
                    case .unreadable(let place, let problem): tally.unreadable.add(problem, at: place)
                    case .repeated: tally.repeated += 1
                    case .evidence(let evidence):
                        try tally.add(evidence, await replay.judge(evidence))
                    }
                }
                for line in tally.unreadable.lines { Terminal.report(line) }
                try tally.finish(under: replay.revision)
                return tally
            }
            if tally.count == 0, tally.unreadable.count == 0 { throw EvidenceFileError("there is no such evidence") }
            if tally.unreadable.count > 0 { throw ExitCode.couldNotRun }
            if tally.isDifferent { throw ExitCode.refused }
        } catch let error where !(error is ExitCode) && !(error is OutputError) {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    private func wants(_ line: EvidenceLine) -> Bool {
        if let since, line.time < since { return false }
        if let app, !line.resource.isExactly(app), !line.resource.ends(withExactly: "/\(app)") { return false }
        return selection.wants(line)
    }
}

/// How results are written.
enum ReplayFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text
    case json
}
