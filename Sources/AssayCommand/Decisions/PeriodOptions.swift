internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayYAML

/// From when and until when records are meant.
struct PeriodOptions: ParsableArguments {
    @Option(
        help: "Only records from this time on: 2026-11-24T08:15:00Z, 2026-11-24, or 2h before now.", valueName: "time",
        reading: .past)
    var since: Instant?

    @Option(help: "Only records before this time.", valueName: "time", reading: .past)
    var until: Instant?

    func validate() throws {
        if let since, let until, since >= until {
            throw ValidationError("--since \(since) is not before --until \(until): no record is between them")
        }
    }
}

/// Values of queries that have names.
enum QueryNames {
    /// Warns of a reason and a method that this program does not know; a plugin of the server may have them.
    static func warn(reason: String?, method: String?) throws {
        let names = RecordNames(try AssayProgram.current.registry())
        for line in warnings(reason: reason, method: method, names) { Terminal.report(line) }
    }

    static func warnings(reason: String?, method: String?, _ names: RecordNames) -> [String] {
        var warnings: [String] = []
        for (word, value, known) in [("reason", reason, names.reasons), ("method", method, names.methods)] {
            guard let value, !known.contains(exactly: value) else { continue }
            let hint = RecordNames.guess(value, among: known) ?? "a plugin that is not in this program may have it"
            warnings.append("warning: unknown \(word) '\(DecisionTable.shown(value))'; \(hint)")
        }
        return warnings
    }
}

extension ArgumentReader<String> {
    /// An outcome, as records name it.
    static var outcome: Self {
        ArgumentReader.word(among: RecordNames.outcomes)
    }

    /// One of a few words.
    static func word(among words: [String]) -> Self {
        ArgumentReader(accepted: "one of \(words.joined(separator: ", "))") { text throws(ArgumentCause) in
            guard !words.contains(exactly: text) else { return text }
            throw ArgumentCause("unknown\(Spelling.guess(for: text, among: words).map { " (\($0))" } ?? "")")
        }
    }
}
