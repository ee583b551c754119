internal import ArgumentParser
internal import AssayAudit
internal import AssayCore
internal import AssayHosting
internal import AssayYAML

/// `assay decisions`.
struct DecisionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decisions", abstract: "Look decisions up in audit files, and judge captured evidence again.",
        discussion: """
            Files compressed with gzip are read as they are. An index beside each file makes look-ups fast; the first look-up makes \
            it. Requests of strangers beyond a rate are only in sums, and cannot be found one by one.

            Exit codes: 0 when something was found, 1 when nothing was, 2 when the command could not run or a file could not be \
            read to its end: what could be read is printed then.
            """,
        subcommands: [
            DecisionsShowCommand.self, DecisionsListCommand.self, DecisionsStatsCommand.self,
            DecisionsReplayCommand.self, DecisionsKeygenCommand.self,
        ])
}

/// Which audit files are read, and how results are printed.
struct LookupOptions: ParsableArguments {
    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Audit files, each with its rotated files; folders of audit files; or patterns.", valueName: "path"))
    var audit: [String]

    @Flag(help: "Read all lines, and neither use nor make an index.")
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

    /// Says on standard error what was read without an index, or could not be read.
    func note(_ notes: [String]) {
        for note in notes { Terminal.report(note) }
    }

    /// Ends the command for files that could not be read to their end.
    static func check(_ isIncomplete: Bool) throws {
        if isIncomplete { throw ExitCode.couldNotRun }
    }
}

/// A time as `2026-11-24T08:15:00Z` or `2026-11-24`, or a duration before now, such as `2h`.
struct TimeArgument: ExpressibleByArgument {
    let instant: Instant

    init?(argument: String) {
        if let instant = Instant(rfc3339: argument) ?? Instant(rfc3339: "\(argument)T00:00:00Z") {
            self.instant = instant
        } else if let duration = YAMLNode.duration(argument) {
            instant = HostClock.system.now - duration
        } else {
            return nil
        }
    }
}

/// `assay decisions list`.
struct DecisionsListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List decisions, the newest first; times are in UTC.")

    @OptionGroup var options: LookupOptions

    @Option(help: "The app ID, the OAuth client ID, or the full name of the resource.")
    var app: String?

    @Option(help: "The code of the reason; also of one that was not enforced.")
    var reason: String?

    @Option(
        help: ArgumentHelp("The first time: 2026-11-24T08:15:00Z, 2026-11-24, or 2h before now.", valueName: "time"))
    var since: TimeArgument?

    @Option(help: ArgumentHelp("The first time that is not meant any more.", valueName: "time"))
    var until: TimeArgument?

    @Option(help: "The identifier of the attested key, as the fact key_id has it.")
    var keyId: String?

    @Option(help: "The policy's name of the caller.")
    var caller: String?

    @Option(help: "The name of the method.")
    var method: String?

    @Option(help: "The outcome: challenged, issued, answered, refused, rejected or error.")
    var outcome: String?

    @Option(help: "The rule that decided, or would have refused.")
    var rule: String?

    @Option(help: "The most decisions.")
    var limit = 50

    func validate() throws {
        guard (1...100_000).contains(limit) else { throw ValidationError("--limit takes a number from 1 to 100000") }
    }

    func run() throws {
        var query = DecisionQuery(limit: limit)
        (query.app, query.reason, query.since, query.until) = (app, reason, since?.instant, until?.instant)
        (query.keyID, query.caller, query.method) = (keyId, caller, method)
        (query.outcome, query.rule) = (outcome, rule)
        let found = try options.run { try $0.list(query) }
        options.note(found.notes)
        switch options.format {
        case .json:
            for line in found.lines { try Terminal.say(String(decoding: line, as: UTF8.self)) }
        case .text:
            for line in DecisionTable.lines(of: found.lines) { try Terminal.say(line) }
            if found.next != nil { Terminal.report("there are more; --limit shows them") }
        }
        try LookupOptions.check(found.isIncomplete)
        guard !found.lines.isEmpty else { throw ExitCode.refused }
    }
}

/// `assay decisions stats`.
struct DecisionsStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count decisions, those in sums too.",
        discussion: "Without --since and --until, and for whole hours, only the indexes are read.")

    @OptionGroup var options: LookupOptions

    @Option(help: "What they are counted by.")
    var by: CountedBy

    @Option(
        help: ArgumentHelp("The first time: 2026-11-24T08:15:00Z, 2026-11-24, or 2h before now.", valueName: "time"))
    var since: TimeArgument?

    @Option(help: ArgumentHelp("The first time that is not meant any more.", valueName: "time"))
    var until: TimeArgument?

    /// The fields that decisions are counted by.
    enum CountedBy: String, ExpressibleByArgument, CaseIterable {
        case reason, app, method, caller, rule, outcome
    }

    func run() throws {
        let field = CountedField(exactly: by.rawValue) ?? .reason
        let (counts, notes, isIncomplete) = try options.run {
            try $0.count(by: field, since: since?.instant, until: until?.instant)
        }
        options.note(notes)
        switch options.format {
        case .json:
            let list = counts.map { entry -> JSON in
                [by.rawValue: .string(entry.text), "count": .integer(Int64(clamping: entry.count))]
            }
            try Terminal.say(PrettyJSON.text(of: .array(list)))
        case .text:
            let width = counts.map { String($0.count).count }.max() ?? 0
            for entry in counts {
                let number = String(entry.count)
                let text = entry.text.isEmpty ? "(none)" : entry.text
                try Terminal.say(
                    String(repeating: " ", count: width - number.count) + "\(number)  \(DecisionTable.shown(text))")
            }
        }
        try LookupOptions.check(isIncomplete)
        guard !counts.isEmpty else { throw ExitCode.refused }
    }
}
