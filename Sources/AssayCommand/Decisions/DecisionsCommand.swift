internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayServices
internal import AssayYAML

/// `assay decisions`.
struct DecisionsCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "decisions", abstract: "Look decisions up in audit files, and judge captured evidence again.",
            discussion: """
                Files compressed with gzip are read as they are. An index beside each file makes look-ups fast; the first look-up makes \
                it. Requests of strangers above a rate are recorded only as sums, and cannot be found one by one. Records of changes, such as \
                of policies and keys, are listed by `\(AssayProgram.current.name) audit events`.

                Exit codes: 0 when something was found, 1 when nothing was, 2 when the command could not run or a file could not be \
                read to its end: what could be read is printed then.
                """,
            subcommands: [
                DecisionsShowCommand.self, DecisionsListCommand.self, DecisionsStatsCommand.self,
                DecisionsReplayCommand.self, DecisionsKeygenCommand.self,
            ])
    }
}

/// Which audit files are read, and how results are printed.
struct LookupOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Audit files, each with its rotated files; folders of audit files; or patterns.", valueName: "path"))
    var audit: [String]

    @Flag(help: "Read all lines, without indexes.")
    var noIndex = false

    @Option(help: "The format of the result.")
    var format = AuditFormat.text

    func lookup() throws -> AuditLookup { try AuditLookup(audit, indexing: noIndex ? .none : .kept) }

    /// Does a look-up; what cannot be read ends the command.
    func run<Value>(_ body: (AuditLookup) throws -> Value) throws -> Value {
        do {
            return try body(try lookup())
        } catch let error where error is AuditFileError || error is DecisionArchiveError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }

    /// Says on standard error that nothing was found, and where it was looked for.
    func report(nothing what: String, in extent: SearchedRecords) {
        Terminal.report("no \(what): \(extent.words)")
    }

    /// Says on standard error what was read without an index, or could not be read.
    func note(_ notes: [String]) {
        for note in notes { Terminal.report(note) }
    }

    /// Ends the command for files that could not be read to their end.
    static func check(_ isIncomplete: Bool) throws {
        if isIncomplete { throw ExitCode.couldNotRun }
    }
}

/// `assay decisions list`.
struct DecisionsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List decisions, the newest first; times are in UTC.",
        discussion: """
            The column CAUSE has the reason or the status. `unenforced=REASON` is the reason for which a request would have been refused \
            at the level ENFORCED. `would_refuse=NAME` names what is in shadow and would have refused it: a rule, or \
            PROVIDER:REASON for settings in a provider's section `shadow`.
            """)

    @OptionGroup var options: LookupOptions

    @Option(help: "The app ID, the OAuth client ID, or the full name of the resource.")
    var app: String?

    @Option(
        help: """
            The code of the reason, also of one that was not enforced; or the status of what was rejected or failed, such as NOT_FOUND.
            """)
    var reason: String?

    @OptionGroup var period: PeriodOptions

    @Option(help: "The value of the fact `key_id`; other facts that identify an attester are not looked up.")
    var keyId: String?

    @Option(help: "The policy's name of the caller.")
    var caller: String?

    @Option(help: "The name of the method.")
    var method: String?

    @Option(
        help: "The outcome: challenged, issued, answered, refused, rejected or error.", valueName: "outcome",
        reading: .outcome)
    var outcome: String?

    @Option(
        help: """
            The rule that decided, or is in shadow and would have refused; PROVIDER:REASON for settings of a provider that are \
            in shadow.
            """)
    var rule: String?

    @OptionGroup var named: ServiceOption

    @Option(help: "The most decisions that are listed.", valueName: "number", reading: .number(1...100_000))
    var limit = 50

    func run() throws {
        var query = DecisionQuery(limit: limit)
        (query.app, query.reason, query.since, query.until) = (app, reason, period.since, period.until)
        (query.keyID, query.caller, query.method) = (keyId, caller, method)
        (query.outcome, query.rule, query.service) = (outcome, rule, named.service)
        try QueryNames.warn(reason: reason, method: method)
        let found = try options.run { try $0.list(query) }
        options.note(found.notes)
        switch options.format {
        case .json:
            for line in found.lines { try Terminal.say(String(decoding: line, as: UTF8.self)) }
        case .text:
            for line in DecisionTable.lines(of: found.lines) { try Terminal.say(line) }
            if found.next != nil { Terminal.report("there are more decisions; --limit shows more") }
        }
        try LookupOptions.check(found.isIncomplete)
        guard !found.lines.isEmpty else {
            options.report(nothing: "decision matches", in: found.extent)
            try named.explain(in: options)
            throw ExitCode.refused
        }
    }
}

/// The service that decisions are about.
struct ServiceOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The service or the backend that a token was used at; requests that are recorded only as sums have none.",
            valueName: "name"))
    var service: String?

    private static let mostNames = 20

    /// Says on standard error which services the records have, where nothing was found for one that they do not have.
    func explain(in options: LookupOptions) throws {
        guard let service else { return }
        let known = try options.run { try $0.count(by: .service) }.counts.map(\.text).filter { !$0.isEmpty }
        guard !known.contains(exactly: service) else { return }
        let names = known.prefix(Self.mostNames).map(DecisionTable.shown).joined(separator: ", ")
        let hint =
            Spelling.guess(for: service, among: known)
            ?? (known.isEmpty
                ? "the records have none" : "the records have \(names)\(known.count > Self.mostNames ? ", …" : "")")
        Terminal.report("warning: unknown service '\(DecisionTable.shown(service))'; \(hint)")
    }
}
