internal import ArgumentParser
internal import AssayCore
internal import AssayKit
internal import AssayServices

/// `assay audit events`.
struct AuditEventsCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "events",
            abstract: "List the events of a server: starts, and changes of policies, keys and the deny list.",
            discussion: """
                One line each, the newest first: the time (UTC), the kind, the caller that asked for it, the policies in force from \
                then on, and details. With --format json, the records as the files have them. `\(program) decisions list` lists \
                decisions.

                The kinds are \(kinds.joined(separator: ", ")).

                Exit codes: 0 when something was found, 1 when nothing was, 2 when the command could not run.
                """)
    }

    /// Those of servers, and the first line of a chain.
    private static let kinds = AuditEvent.Kind.allCases.map(\.rawValue) + [AuditChain.startEvent]

    @Argument(help: ArgumentHelp("Audit files, folders or patterns.", valueName: "path"))
    var paths: [String]

    @Option(
        help: "Only events of this kind; may be given several times.", valueName: "kind",
        reading: .word(among: AuditEventsCommand.kinds))
    var kind: [String] = []

    @OptionGroup var period: PeriodOptions

    @Option(help: "The policy's name of the caller that asked for the change.")
    var caller: String?

    @Option(help: "The most events that are listed.", valueName: "number", reading: .number(1...100_000))
    var limit = 50

    @Option(help: "The format of the result.")
    var format = AuditFormat.text

    @Flag(help: "Read all lines, without indexes.")
    var noIndex = false

    func run() throws {
        var query = EventQuery(limit: limit)
        query.kinds = kind.map { ExactText($0) }
        (query.since, query.until, query.caller) = (period.since, period.until, caller)
        let found: AuditLookup.Found
        do {
            found = try AuditLookup(paths, indexing: noIndex ? .none : .kept).events(query)
        } catch let error as AuditFileError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
        for note in found.notes { Terminal.report(note) }
        for line in found.lines {
            switch format {
            case .json: try Terminal.say(String(decoding: line, as: UTF8.self))
            case .text: try Terminal.say(EventLine.text(of: line))
            }
        }
        try LookupOptions.check(found.isIncomplete)
        guard !found.lines.isEmpty else {
            Terminal.report("no event matches: \(found.extent.words)")
            throw ExitCode.refused
        }
        if format == .text, found.next != nil { Terminal.report("there are more events; --limit shows more") }
    }
}

/// An event as one line for people.
enum EventLine {
    static func text(of line: [UInt8]) -> String {
        guard let record = try? JSON.parse(line, limits: JSON.Limits(bytes: 1 << 20)) else {
            return "(a line that is not JSON)"
        }
        var words = [record["time"]?.string ?? "", record["event"]?.string ?? ""]
        if let caller = record["caller"]?.string { words.append("by \(caller)") }
        if let revision = record["revision"]?.string { words.append("policies \(revision)") }
        for detail in record["details"]?.members ?? [] {
            let value = detail.value.string ?? String(decoding: detail.value.encoded, as: UTF8.self)
            words.append("\(detail.name)=\(value.utf8.contains(UInt8(ascii: " ")) ? "\"\(value)\"" : value)")
        }
        return DecisionTable.shown(words.joined(separator: "  "))
    }
}
