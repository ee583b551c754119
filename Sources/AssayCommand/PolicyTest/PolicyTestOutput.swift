internal import AssayCore
internal import AssayEngine
internal import AssayPolicyTools
internal import AssayYAML

/// What `assay policy test` prints.
struct PolicyTestOutput {
    let report: PolicyTestReport
    let isVerbose: Bool
    /// Nil if it is not asked for.
    let coverage: PolicyCoverage?

    // MARK: - For people

    var texts: [String] {
        report.results.flatMap { texts(of: $0) } + (coverage?.texts ?? []) + [summary]
    }

    private func texts(of result: PolicyTestResult) -> [String] {
        switch result.outcome {
        case .passed:
            guard isVerbose else { return [] }
            return ["ok       \(result.name)\(result.finding.map { " (\($0.words))" } ?? "")"]
        case .failed(let problems):
            return ["FAILED   \(result.name)"] + problems.map(\.description)
                + (result.finding.map { ["  \($0.explanation)"] } ?? [])
        case .notRun(let reason):
            return ["NOT RUN  \(result.name)", "\(result.location): \(reason)"]
        }
    }

    /// The last line.
    private var summary: String {
        var parts = ["\(report.passed) passed"]
        if report.failed > 0 { parts.append("\(report.failed) failed") }
        if report.notRun > 0 { parts.append("\(report.notRun) not run") }
        return parts.joined(separator: ", ")
    }

    // MARK: - For programs

    var lines: [JSON] {
        var summary = [
            JSONMember("passed", .integer(Int64(report.passed))), JSONMember("failed", .integer(Int64(report.failed))),
            JSONMember("not_run", .integer(Int64(report.notRun))),
        ]
        if let coverage { summary.append(JSONMember("coverage", coverage.summary)) }
        return report.results.map(line) + (coverage?.lines ?? []) + [.object([JSONMember("summary", .object(summary))])]
    }

    private func line(_ result: PolicyTestResult) -> JSON {
        var failures: [JSON] = []
        var reason: JSON = .null
        let word: String
        switch result.outcome {
        case .passed: word = "passed"
        case .failed(let problems):
            word = "failed"
            failures = problems.map { PolicyReport.line($0) }
        case .notRun(let why):
            word = "not_run"
            reason = .string(why)
        }
        return [
            "test": .string(result.name), "form": .string(result.form), "file": .string(result.location.file),
            "line": .integer(Int64(result.location.line)), "column": .integer(Int64(result.location.column)),
            "result": .string(word), "found": result.finding?.json ?? .null, "failures": .array(failures),
            "reason": reason,
        ]
    }
}

extension PolicyFinding {
    fileprivate var json: JSON {
        var members: [JSONMember] = []
        func add(_ name: String, _ value: JSON?) {
            if let value { members.append(JSONMember(name, value)) }
        }
        add("permission", (permission?.rawValue).map { .string($0) })
        add("verdict", (verdict?.rawValue).map { .string($0) })
        add("reason", (reason?.code).map { .string($0) })
        add("status", reason.flatMap { $0.status == .forbidden ? nil : .integer(Int64($0.status.rawValue)) })
        add("rule", (rule?.string).map { .string($0) })
        add("rule_location", ruleLocation.map { .string("\($0)") })
        if verdict != nil {
            add("marks", .array(marks.map { .string($0.string) }))
            add("would_refuse", .array(wouldRefuse.map { .string($0.string) }))
        }
        add(
            "token",
            token.map {
                [
                    "ttl": .string("\($0.lifetime.components.seconds)s"), "limited_use": .bool($0.isForLimitedUse),
                    "claims": $0.claims,
                ]
            })
        add("detail", detail.map { .string($0) })
        return .object(members)
    }
}

extension PolicyCoverage {
    fileprivate var texts: [String] {
        let kinds: [(Kind, String)] = [(.provider, "providers"), (.rule, "rules"), (.condition, "conditions")]
        let (seen, all) = ways
        let parts = kinds.map { kind, name in "\(name) \(ways(of: kind).seen) of \(ways(of: kind).all)" }
        return ["covered: \(percent) % (\(seen) of \(all)): \(parts.joined(separator: ", "))"]
            + items.filter { !$0.isCovered }.map { "  \($0.location): \($0.words)" }
    }

    fileprivate var summary: JSON {
        .object(
            [JSONMember("percent", .integer(Int64(percent)))]
                + Kind.allCases.map { kind in
                    let (seen, all) = ways(of: kind)
                    return JSONMember(
                        "\(kind.rawValue)s", ["seen": .integer(Int64(seen)), "all": .integer(Int64(all))])
                })
    }

    fileprivate var lines: [JSON] {
        items.map { item in
            [
                "coverage": [
                    "kind": .string(item.kind.rawValue), "name": .string(item.name),
                    "file": .string(item.location.file), "line": .integer(Int64(item.location.line)),
                    "column": .integer(Int64(item.location.column)), "hits": .integer(Int64(item.hits)),
                    "misses": .integer(Int64(item.misses)), "covered": .bool(item.isCovered),
                ]
            ]
        }
    }
}

extension PolicyCoverage.Item {
    /// What no test does with it.
    fileprivate var words: String {
        switch kind {
        case .provider: "no test is about `\(name)`"
        case .rule where hits == 0 && misses == 0: "no test comes to the rule `\(name)`"
        case .rule: hits == 0 ? "no test matches the rule `\(name)`" : "every test matches the rule `\(name)`"
        case .condition where hits == 0 && misses == 0: "no test comes to the condition `\(name)`"
        case .condition:
            hits == 0 ? "the condition `\(name)` holds in no test" : "the condition `\(name)` holds in every test"
        case .setting: "no test ends otherwise without the setting `\(name)`"
        }
    }
}
