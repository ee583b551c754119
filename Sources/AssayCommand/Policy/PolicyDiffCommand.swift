internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServices

/// `assay policy diff`.
struct PolicyDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Compare two folders of policies by what they mean; offline.",
        discussion: """
            Compares what holds in the end: it makes no difference whether an app says something itself or by a profile, in \
            which order keys are, and whether a default is stated. Each difference has both values and both places. Then \
            follow the methods that an app or a project gets or loses, and a warning for each project, app, OAuth client and \
            provider of an app that is gone: its running clients stop to ask for tokens for a day. Secrets are not read.

            With --format json, standard output has one JSON object a line: a difference has `subject` (tokens, caller, \
            project, service, consumer, app, oauth_client, section), `name`, `change` (added, removed, changed), `path`, \
            `old`, `new`, `old_place` and `new_place` (`file`, `line`, `column`); methods are {"resource", "methods_added", \
            "methods_removed"}; warnings are {"warning"}. The last line is {"summary": …}.

            With --against, recorded decisions are tried with both sets, and those are counted that would come out differently: \
            by app, method, outcome and rule, with the identifiers of the first five. What records tell is judged: apps, \
            providers, callers, permissions, rules over facts, the levels of services, and the demand of consumers. What needs \
            evidence, tokens or credentials is counted as not judged where the settings differ. With --format json, each group is \
            {"resource", "method", "old_outcome", "new_outcome", "rule", "count", "examples"}, followed by {"decisions": …}.

            Exits with 0 when both mean the same, with 1 when they differ, and with 2 when one of them has errors or a file \
            after --against could not be read to its end.

            Example: \(AssayProgram.current.name) policy diff /etc/assay/policies policies --against audit.ndjson audit.ndjson.1.gz
            """)

    @Argument(help: "The folder of the policies before.", completion: .directory)
    var old: String

    @Argument(help: "The folder of the policies after.", completion: .directory)
    var new: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Audit files with their rotated ones, or folders, whose decisions are tried, also compressed with gzip; - is standard input.",
            valueName: "paths"
        ),
        completion: .file(extensions: ["ndjson", "jsonl", "log", "gz"]))
    var against: [String] = []

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    func run() async throws {
        try await CheckedPolicies.with(old) { old in
            try await CheckedPolicies.with(new) { new in try compare(old, new) }
        }
    }

    private func compare(_ old: CheckedPolicies, _ new: CheckedPolicies) throws {
        let changes = PolicyChanges(from: old.policies, to: new.policies)
        let methods = MethodChanges(from: (old.policies, old.registry), to: (new.policies, new.registry))
        switch format {
        case .text:
            for line in changes.lines(limit: .max) + methods.lines { try Terminal.say(line) }
            for loss in changes.losses { try Terminal.say("warning: \(loss)") }
            try Terminal.say(changes.summary)
        case .json:
            let losses = changes.losses.map { loss -> JSON in ["warning": .string(loss)] }
            for line in changes.all.map(\.json) + methods.json + losses + [["summary": changes.summaryJSON]] {
                try Terminal.say(String(decoding: line.encoded, as: UTF8.self))
            }
        }
        let isComplete = try against.isEmpty || replay(old, new)
        guard isComplete else { throw ExitCode.couldNotRun }
        if !changes.isEmpty || !methods.isEmpty { throw ExitCode.refused }
    }

    /// Returns whether all files could be read to their end; what could not be is said on standard error.
    private func replay(_ old: CheckedPolicies, _ new: CheckedPolicies) throws -> Bool {
        var isComplete = true
        var replay = try DecisionReplay(from: (old.policies, old.registry), to: (new.policies, new.registry))
        for path in against {
            do throws(AuditFileError) {
                for name in path.isExactly("-") ? [path] : try AuditPaths.files([path]) {
                    try RecordFile(name).forEachLine { line, number in replay.read(line ?? [], at: "\(name):\(number)")
                    }
                }
            } catch {
                Terminal.report("\(error.message); the counts lack what could not be read")
                isComplete = false
            }
        }
        let report = replay.result
        switch format {
        case .text: for line in report.text { try Terminal.say(line) }
        case .json: for line in report.json { try Terminal.say(String(decoding: line.encoded, as: UTF8.self)) }
        }
        return isComplete
    }
}
