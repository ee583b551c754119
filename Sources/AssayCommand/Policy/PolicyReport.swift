internal import AssayCore
internal import AssayPolicy
internal import AssayYAML

/// What is to be said of a set of policies.
struct PolicyReport {
    private let directory: String
    /// Errors and warnings, in the order of files and lines.
    private let all: Diagnostics?
    private let errors: Int
    private let warnings: Int
    private let apps: Int
    private let clients: Int
    /// How many secrets were not read; nil if they were.
    private let withheld: Int?
    /// Whether warnings are refused, too.
    private let isStrict: Bool

    /// - Parameters:
    ///   - questionable: the warnings of the loader and of plugins.
    ///   - plugins: what is questionable about the plugins themselves, whatever the policies say.
    ///   - withheld: how many secrets were not read; nil if they were.
    init(
        directory: String, policies: PolicySet, problems: Diagnostics?, warnings questionable: Diagnostics?,
        plugins: [String] = [], withheld: Int? = nil, isStrict: Bool = false
    ) {
        self.isStrict = isStrict
        self.directory = directory
        self.withheld = withheld
        let none = Diagnostic(
            .warning, file: directory, location: nil, message: "no app is defined: every request will be refused")
        let lacking = problems == nil && policies.apps.isEmpty ? Diagnostics(none) : nil
        let old = Diagnostics(plugins.map { Diagnostic(.warning, location: nil, message: $0) })
        let found = [problems, questionable, lacking, old].compactMap { $0 }
        all = Diagnostics(found.flatMap(\.all), omitted: found.reduce(0) { $0 + $1.omitted })
        errors = problems.map { $0.all.count + $0.omitted } ?? 0
        warnings = [questionable, lacking, old].compactMap { $0 }.reduce(0) { $0 + $1.all.count + $1.omitted }
        (apps, clients) = policies.counts
    }

    /// Whether there is an error, or with strictness a warning.
    var isRefused: Bool { errors > 0 || isStrict && warnings > 0 }

    /// Whether there were too many problems to find them all.
    private var isCutShort: Bool { (all?.omitted ?? 0) > 0 }

    var problemTexts: [String] {
        var texts = all?.all.map(\.description) ?? []
        if let all, all.omitted > 0 { texts.append("and at least \(all.omitted) more") }
        return texts
    }

    /// The last line for people.
    var summary: String {
        var counts: [String] = []
        if errors > 0 { counts.append((isCutShort ? "at least " : "") + errors.counting("error")) }
        if warnings > 0 { counts.append(warnings.counting("warning")) }
        let unread = withheld.map { "; \($0.counting("secret")) not read" } ?? ""
        if errors > 0 { return "\(directory): \(counts.joined(separator: ", "))\(unread)" }
        if isRefused { return "\(directory): \(counts.joined()), which --strict refuses\(unread)" }
        let good = counts.isEmpty ? "all good" : "good, with \(counts.joined())"
        return "\(directory): \(apps.counting("app")) and \(clients.counting("OAuth client")), \(good)\(unread)"
    }

    /// The lines for programs.
    var lines: [JSON] {
        var summary = [
            ("errors", errors), ("warnings", warnings), ("omitted", all?.omitted ?? 0), ("apps", apps),
            ("oauth_clients", clients),
        ]
        if let withheld { summary.append(("secrets_not_read", withheld)) }
        return (all?.all.map(Self.line) ?? []) + [
            ["summary": .object(summary.map { JSONMember($0.0, .integer(Int64($0.1))) })]
        ]
    }

    /// A problem for programs.
    static func line(_ problem: Diagnostic) -> JSON {
        [
            "severity": .string(problem.severity.rawValue), "file": text(problem.file),
            "line": number(problem.location?.line), "column": number(problem.location?.column),
            "end_line": number(problem.end?.line), "end_column": number(problem.end?.column),
            "path": text(problem.path.isEmpty ? nil : problem.path), "message": .string(problem.message),
            "hint": text(problem.hint), "related": .array(problem.related.map(related)),
        ]
    }

    private static func related(_ note: Diagnostic.Note) -> JSON {
        [
            "file": .string(note.location.file), "line": number(note.location.line),
            "column": number(note.location.column), "message": .string(note.message),
        ]
    }

    private static func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }

    private static func number(_ number: Int?) -> JSON { number.map { .integer(Int64($0)) } ?? .null }
}
