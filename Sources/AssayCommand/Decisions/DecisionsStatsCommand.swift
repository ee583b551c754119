internal import ArgumentParser
internal import AssayCore
internal import AssayServices

/// `assay decisions stats`.
struct DecisionsStatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count decisions, also those that are recorded only as sums.",
        discussion: """
            `reason` counts by the status where there is no reason. `would_refuse` counts what is in shadow and would have refused: rules by \
            their names, and PROVIDER:REASON for settings in a provider's section `shadow`; a decision counts for each of them. \
            `unenforced_reason` counts by the reason for which a request would have been refused at the level ENFORCED.

            Without --since and --until, and for whole hours, only the indexes are read.
            """)

    @OptionGroup var options: LookupOptions

    @Option(help: "The field whose values are counted.")
    var by: CountedBy

    @OptionGroup var period: PeriodOptions

    @OptionGroup var named: ServiceOption

    /// The fields that decisions are counted by, as records and ``CountedField`` name them.
    enum CountedBy: String, ExpressibleByArgument, CaseIterable {
        case reason, app, method, caller, rule, outcome, service
        case wouldRefuse = "would_refuse"
        case unenforced = "unenforced_reason"
    }

    func run() throws {
        let field = CountedField(exactly: by.rawValue) ?? .reason
        let found = try options.run {
            try $0.count(by: field, since: period.since, until: period.until, service: named.service)
        }
        options.note(found.notes)
        switch options.format {
        case .json:
            let list = found.counts.map { entry -> JSON in
                [by.rawValue: .string(entry.text), "count": .integer(Int64(clamping: entry.count))]
            }
            try Terminal.say(PrettyJSON.text(of: .array(list)))
        case .text:
            let width = found.counts.map { String($0.count).count }.max() ?? 0
            for entry in found.counts {
                let number = String(entry.count)
                let text = entry.text.isEmpty ? "(none)" : entry.text
                try Terminal.say(
                    String(repeating: " ", count: width - number.count) + "\(number)  \(DecisionTable.shown(text))")
            }
        }
        try LookupOptions.check(found.isIncomplete)
        guard !found.counts.isEmpty else {
            options.report(nothing: "decision matches", in: found.extent)
            try named.explain(in: options)
            throw ExitCode.refused
        }
    }
}
