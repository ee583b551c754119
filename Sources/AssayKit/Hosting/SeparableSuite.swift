package import AssayCore

/// A suite whose checks can be made one by one, in processes of their own: a plugin that hangs or crashes fails one of them
/// and ends no report.
public protocol SeparableSuite: ConformanceSuite {
    /// The names of the checks, in their order, and the rule that each one looks at.
    var checks: [(name: String, rule: String)] { get }

    /// Makes some of the checks.
    ///
    /// - Parameters:
    ///   - effort: how many variants of hostile input are tried.
    ///   - checks: the names of the checks to make.
    ///   - each: receives the line of each check as soon as the check has ended.
    func report(
        _ effort: ConformanceEffort, of checks: [String], each: @escaping @Sendable (ConformanceReport.Line) -> Void
    ) async -> ConformanceReport
}

extension SeparableSuite {
    /// Makes all checks.
    public func report(_ effort: ConformanceEffort) async -> ConformanceReport {
        await report(effort, of: checks.map(\.name)) { _ in }
    }
}

extension ConformanceReport {
    /// Reads a report that ``json`` wrote; nil for other JSON.
    package init?(_ json: JSON) {
        guard let kindName = json["kind"]?.string, let name = json["name"]?.string,
            let version = json["version"]?.string, let effortName = json["effort"]?.string,
            let kind = PluginKind.allCases.first(where: { $0.rawValue.isExactly(kindName) }),
            let effort = ConformanceEffort.allCases.first(where: { $0.rawValue.isExactly(effortName) }),
            let lines = json["checks"]?.array
        else { return nil }
        self.init(kind, name, version: version, effort: effort, lines: lines.compactMap { Line($0) })
        guard self.lines.count == lines.count else { return nil }
    }
}

extension ConformanceReport.Line {
    fileprivate init?(_ json: JSON) {
        guard let check = json["check"]?.string, let rule = json["rule"]?.string,
            let result = json["result"]?.string
        else { return nil }
        let calls = json["calls"]?.integer.map { Int(clamping: $0) } ?? 0
        let reason = json["reason"]?.string ?? ""
        if result.isExactly("passed") {
            self.init(check, rule, .passed(calls: calls))
        } else if result.isExactly("not_applicable") {
            self.init(check, rule, .notApplicable(reason))
        } else if result.isExactly("not_looked_at") {
            self.init(check, rule, .notLookedAt(reason, calls: calls))
        } else {
            self.init(check, rule, .failed((json["findings"]?.array ?? []).compactMap(\.string)))
        }
    }
}
