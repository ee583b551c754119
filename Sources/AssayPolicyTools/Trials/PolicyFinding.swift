public import AssayCore
internal import AssayEngine
public import AssayYAML

/// What policies say to a test.
public struct PolicyFinding: Sendable {
    /// What becomes of evidence.
    @nonexhaustive public enum Verdict: String, Sendable, CaseIterable {
        /// A token is issued.
        case accepted
        /// The evidence is refused.
        case refused
    }

    /// What becomes of a caller.
    @nonexhaustive public enum Permission: String, Sendable, CaseIterable {
        /// The caller may call the method.
        case allowed
        /// It may not.
        case denied
    }

    /// The token that evidence gets.
    public struct Token: Sendable {
        /// How long it lives.
        public let lifetime: Duration
        /// Whether it can be used once.
        public let isForLimitedUse: Bool
        /// Its claims, an object.
        public let claims: JSON
    }

    /// What becomes of the evidence; nil when nothing could be decided, and for a test of permissions.
    public var verdict: Verdict?
    /// Whether the caller may call the method; nil for a test of evidence.
    public var permission: Permission?
    /// Why the evidence is refused.
    public var reason: Reason?
    /// The rule that decided; nil when none matched.
    public var rule: ExactText?
    /// The place of that rule.
    public var ruleLocation: SourceLocation?
    /// The rules that mark the evidence.
    public var marks: [ExactText] = []
    /// The shadow rules that would refuse the evidence.
    public var wouldRefuse: [ExactText] = []
    /// The token; nil without one.
    public var token: Token?
    /// What else helps to explain it, for people.
    public var detail: String?

    init(verdict: Verdict? = nil, permission: Permission? = nil) {
        self.verdict = verdict
        self.permission = permission
    }

    /// What decided, in one line for people.
    public var explanation: String {
        if let permission { return detail ?? permission.rawValue }
        guard let verdict else { return "nothing was decided: \(detail ?? "unknown")" }
        if let rule { return "decided by the rule `\(rule)`\(ruleLocation.map { ", \($0)" } ?? "")" }
        if let reason { return "refused by `\(reason.code)`\(detail.map { ": \($0)" } ?? "")" }
        return verdict == .accepted ? "no rule matched" : "refused"
    }

    /// Whether the rules of the app were asked: not about evidence that its provider or the deny list refuses before them.
    var asksRules: Bool { verdict == .accepted || reason == KernelReasons.ruleRefused }

    /// Why evidence is refused before rules are asked, in words; nil if it is not.
    var ending: String? {
        guard verdict == .refused, !asksRules else { return nil }
        if reason == KernelReasons.evidenceDenied { return detail ?? "the deny list refuses the evidence" }
        return "the evidence is refused by `\(reason?.code ?? "unknown")` before them"
    }

    /// The finding in a few words: `accepted`, `refused by rule_refused, rule old-ios`.
    public var words: String {
        if let permission { return permission.rawValue }
        guard let verdict else { return "undecided" }
        var words = verdict.rawValue
        if let reason {
            words += " by \(reason.code)\(reason.status == .forbidden ? "" : ", status \(reason.status.rawValue)")"
        }
        if let rule { words += ", rule \(rule)" }
        return words
    }
}

/// How one test ended.
public struct PolicyTestResult: Sendable {
    /// The outcome of a test.
    @nonexhaustive public enum Outcome: Sendable {
        /// All is as expected.
        case passed
        /// What is not as expected, each at the place of the expectation.
        case failed([Diagnostic])
        /// Why the test could not run, in words.
        case notRun(String)
    }

    /// The name of the test.
    public let name: String
    /// The place of the test.
    public let location: SourceLocation
    /// The key that says what the test is about: `facts`, `device`, `decision` or `caller`.
    public let form: String
    /// How it ended.
    public let outcome: Outcome
    /// What the policies say; nil for a test that could not run.
    public let finding: PolicyFinding?

    init(_ test: PolicyCase, _ outcome: Outcome, _ finding: PolicyFinding?) {
        name = test.name
        location = test.location
        form = test.form
        self.outcome = outcome
        self.finding = finding
    }
}

/// How all tests ended.
public struct PolicyTestReport: Sendable {
    /// The tests, in the order of the files.
    public let results: [PolicyTestResult]
    /// What of the policies the tests look at.
    public let coverage: PolicyCoverage

    /// How many tests passed.
    public var passed: Int { results.count { if case .passed = $0.outcome { true } else { false } } }
    /// How many tests failed.
    public var failed: Int { results.count { if case .failed = $0.outcome { true } else { false } } }
    /// How many tests could not run.
    public var notRun: Int { results.count - passed - failed }
}
