public import AssayCore

/// Checks of one plugin against its contract.
///
/// The suites of `AssayTesting` conform to it, so that a program can run those of its plugins: `assay conformance NAME`.
public protocol ConformanceSuite: Sendable {
    /// What the plugin is for.
    var kind: PluginKind { get }
    /// The plugin's name in policies; the scheme of a store or a sink.
    var name: String { get }

    /// Runs all checks.
    ///
    /// - Parameter effort: how many variants of hostile input are tried.
    func report(_ effort: ConformanceEffort) async -> ConformanceReport
}

/// How many variants of hostile input a suite tries.
@nonexhaustive public enum ConformanceEffort: String, Sendable, Hashable, CaseIterable {
    /// A few dozen of each kind: for tests that run at each change.
    case quick
    /// Every byte of every field: before a release.
    case full
}

/// What a suite found, check by check.
public struct ConformanceReport: Sendable {
    /// How one check ended.
    @nonexhaustive public enum Outcome: Sendable {
        /// The plugin kept the rule in so many calls; 0 where none was needed.
        case passed(calls: Int)
        /// What the plugin did instead, at least one finding.
        case failed([String])
        /// Why the rule is none for this plugin.
        case notApplicable(String)
        /// What the check could not look at, and why; the plugin kept the rule in so many calls.
        case notLookedAt(String, calls: Int)
    }

    /// One check.
    public struct Line: Sendable {
        /// The check's name, in lower case with hyphens; stable.
        @Exact public private(set) var check: String
        /// The rule that every plugin keeps, in words.
        @Exact public private(set) var rule: String
        /// How the check ended.
        public let outcome: Outcome

        /// Makes a line.
        public init(_ check: String, _ rule: String, _ outcome: Outcome) {
            self.check = check
            self.rule = rule
            self.outcome = outcome
        }

        /// Whether the rule was broken.
        public var isFailed: Bool { if case .failed = outcome { true } else { false } }

        /// What the check could not look at, and why; nil when it looked at everything.
        public var notLookedAt: String? { if case .notLookedAt(let what, _) = outcome { what } else { nil } }
    }

    /// What the plugin is for.
    public let kind: PluginKind
    /// The plugin's name.
    @Exact public private(set) var name: String
    /// The plugin's own version; empty when it has none.
    @Exact public private(set) var version: String
    /// How many variants were tried.
    public let effort: ConformanceEffort
    /// The checks, in the order in which they ran.
    public let lines: [Line]

    /// Makes a report.
    public init(_ kind: PluginKind, _ name: String, version: String, effort: ConformanceEffort, lines: [Line]) {
        self.kind = kind
        self.name = name
        self.version = version
        self.effort = effort
        self.lines = lines
    }

    /// Whether no rule was broken; a line may say that something was not looked at.
    public var isPassed: Bool { !lines.contains(where: \.isFailed) }

    /// The findings, each after the name of its check: `truncation: …`; none for a good plugin.
    public var failures: [String] {
        lines.flatMap { line -> [String] in
            guard case .failed(let findings) = line.outcome else { return [] }
            return findings.map { "\(line.check): \($0)" }
        }
    }

    /// The report as a table in Markdown, for the plugin's README.
    public var markdown: String {
        let title = [name, version].filter { !$0.isEmpty }.joined(separator: " ")
        let rows = lines.map { "| `\($0.check)` | \($0.rule) | \($0.outcome.words) |" }
        return
            (["Conformance of the \(kind.rawValue) \(title):", "", "| check | rule | result |", "|---|---|---|"] + rows)
            .joined(separator: "\n") + "\n"
    }

    /// The report as JSON: `kind`, `name`, `version`, `effort`, `passed`, and `checks` with `check`, `rule`, `result` and,
    /// where they apply, `calls`, `findings` or `reason`.
    public var json: JSON {
        [
            "kind": .string(kind.rawValue), "name": .string(name), "version": .string(version),
            "effort": .string(effort.rawValue), "passed": .bool(isPassed), "checks": .array(lines.map(\.json)),
        ]
    }
}

extension ConformanceReport.Outcome {
    /// The outcome in words, safe within a table of Markdown.
    fileprivate var words: String {
        switch self {
        case .passed(let calls): calls == 0 ? "passed" : "passed (\(calls) calls)"
        case .failed(let findings): Self.cell("**failed**: ", findings.joined(separator: "; "))
        case .notApplicable(let reason): Self.cell("not applicable: ", reason)
        case .notLookedAt(let what, let calls):
            Self.cell(calls == 0 ? "not looked at: " : "passed (\(calls) calls), not looked at: ", what)
        }
    }

    private static func cell(_ beginning: String, _ text: String) -> String {
        text.unicodeScalars.reduce(into: beginning) { text, scalar in
            switch scalar {
            case "|": text += "\\|"
            case "\n", "\r": text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension ConformanceReport.Line {
    fileprivate var json: JSON {
        var members = [JSONMember("check", .string(check)), JSONMember("rule", .string(rule))]
        switch outcome {
        case .passed(let calls):
            members += [JSONMember("result", "passed"), JSONMember("calls", .integer(Int64(calls)))]
        case .failed(let findings):
            members += [
                JSONMember("result", "failed"), JSONMember("findings", .array(findings.map { .string($0) })),
            ]
        case .notApplicable(let reason):
            members += [JSONMember("result", "not_applicable"), JSONMember("reason", .string(reason))]
        case .notLookedAt(let what, let calls):
            members += [
                JSONMember("result", "not_looked_at"), JSONMember("calls", .integer(Int64(calls))),
                JSONMember("reason", .string(what)),
            ]
        }
        return .object(members)
    }
}
