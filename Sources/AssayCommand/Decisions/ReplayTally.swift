internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicyTools

/// Writes what came out of evidence that was judged again, and counts it.
struct ReplayTally: Sendable {
    private struct Group: Hashable {
        let app: ExactText
        /// What came out then: a reason's code, or `issued`.
        let reason: ExactText
    }

    private let format: ReplayFormat
    private var groups: [Group: [ReplayedDecision.Comparison: Int]] = [:]
    private var totals: [ReplayedDecision.Comparison: Int] = [:]
    /// How many records could not be read.
    var unreadable = UnreadableRecords()
    /// How many records are of decisions that were counted before.
    var repeated = 0

    init(_ format: ReplayFormat) {
        self.format = format
    }

    var count: Int { totals.values.reduce(0, +) }

    var isDifferent: Bool { totals[.different] != nil }

    mutating func add(_ evidence: CapturedEvidence, _ now: ReplayedDecision) throws(OutputError) {
        let result = now.comparison(with: evidence)
        let group = Group(app: ExactText(evidence.resource), reason: ExactText(evidence.reason ?? "issued"))
        groups[group, default: [:]][result, default: 0] += 1
        totals[result, default: 0] += 1
        switch format {
        case .json: try Terminal.say(String(decoding: json(evidence, now, result).encoded, as: UTF8.self))
        case .text: for line in lines(evidence, now, result) { try Terminal.say(line) }
        }
    }

    // MARK: - As text

    private func lines(
        _ evidence: CapturedEvidence, _ now: ReplayedDecision, _ result: ReplayedDecision.Comparison
    ) -> [String] {
        let head = [
            evidence.decision.text, evidence.time.textWithMilliseconds, evidence.resource, evidence.provider,
            evidence.method,
        ]
        var lines = [
            head.map { SafeText.of($0) }.joined(separator: " "),
            "  then  \(words(evidence.reason, evidence.detail, evidence.rule))",
        ]
        switch result {
        case .same: lines.append("  now   the same")
        case .notJudged: lines.append("  now   not judged: \(SafeText.of(now.detail ?? "", limit: 1000))")
        case .different: lines.append("  now   \(words(now))")
        }
        for assumption in now.assumptions { lines.append("  assumed: \(assumption)") }
        return lines
    }

    private func words(_ now: ReplayedDecision) -> String {
        switch now.finding {
        case .issued: words(nil, now.detail, now.rule)
        case .refused(let reason): words(reason.code, now.detail, now.rule)
        case .rejected, .notJudged: "rejected: \(SafeText.of(now.detail ?? "", limit: 1000))"
        }
    }

    private func words(_ reason: String?, _ detail: String?, _ rule: String?) -> String {
        var words = reason.map { "refused: \(SafeText.of($0))" } ?? "issued"
        if let rule { words += ", rule \(SafeText.of(rule))" }
        if let detail { words += " (\(SafeText.of(detail, limit: 1000)))" }
        return words
    }

    // MARK: - As JSON

    private func json(
        _ evidence: CapturedEvidence, _ now: ReplayedDecision, _ result: ReplayedDecision.Comparison
    ) -> JSON {
        let (outcome, reason): (String, String?) =
            switch now.finding {
            case .issued: ("issued", nil)
            case .refused(let reason): ("refused", reason.code)
            case .rejected: ("rejected", nil)
            case .notJudged: ("not_judged", nil)
            }
        return [
            "decision": .string(evidence.decision.text), "time": .string(evidence.time.textWithMilliseconds),
            "resource": .string(evidence.resource), "provider": .string(evidence.provider),
            "method": .string(evidence.method),
            "then": side(
                evidence.reason.isNil ? "issued" : "refused", evidence.reason, evidence.detail, evidence.rule,
                revision: evidence.revision),
            "now": side(outcome, reason, now.detail, now.rule, revision: nil), "result": .string(result.rawValue),
            "assumed": .array(now.assumptions.map { .string($0) }),
        ]
    }

    private func side(
        _ outcome: String, _ reason: String?, _ detail: String?, _ rule: String?, revision: String?
    ) -> JSON {
        func text(_ text: String?) -> JSON { text.map { .string($0) } ?? .null }
        var members = [
            JSONMember("outcome", .string(outcome)), JSONMember("reason", text(reason)),
            JSONMember("detail", text(detail)), JSONMember("rule", text(rule)),
        ]
        if let revision { members.append(JSONMember("revision", .string(revision))) }
        return .object(members)
    }

    // MARK: - The sum

    /// Writes the sum.
    func finish(under revision: String) throws(OutputError) {
        guard count > 0 || unreadable.count > 0 else { return }
        let sorted = groups.sorted { left, right in
            left.key.app == right.key.app ? left.key.reason < right.key.reason : left.key.app < right.key.app
        }
        switch format {
        case .text:
            try Terminal.say("\(text(totals)) under the policies \(revision); challenges counted as valid")
            for (group, counts) in sorted {
                try Terminal.say(
                    "  \(SafeText.of(group.app.string)) \(SafeText.of(group.reason.string)): \(text(counts))")
            }
            if repeated > 0 {
                try Terminal.say("\(repeated.counting("repeated record")) not counted: the same decisions came before")
            }
            if unreadable.count > 0 { try Terminal.say("\(unreadable.count.counting("record")) could not be read") }
        case .json:
            let groups = sorted.map { group, counts -> JSON in
                .object(
                    [
                        JSONMember("resource", .string(group.app.string)),
                        JSONMember("then", .string(group.reason.string)),
                    ] + members(counts))
            }
            let summary: JSON = .object(
                members(totals) + [
                    JSONMember("unreadable", .integer(Int64(unreadable.count))),
                    JSONMember("repeated", .integer(Int64(repeated))), JSONMember("revision", .string(revision)),
                    JSONMember("groups", .array(groups)),
                ])
            try Terminal.say(String(decoding: JSON.object(["summary": summary]).encoded, as: UTF8.self))
        }
    }

    private func members(_ counts: [ReplayedDecision.Comparison: Int]) -> [JSONMember] {
        ReplayedDecision.Comparison.allCases.map { JSONMember($0.rawValue, .integer(Int64(counts[$0] ?? 0))) }
    }

    private func text(_ counts: [ReplayedDecision.Comparison: Int]) -> String {
        "\(counts[.same] ?? 0) the same, \(counts[.different] ?? 0) different, \(counts[.notJudged] ?? 0) not judged"
    }
}
