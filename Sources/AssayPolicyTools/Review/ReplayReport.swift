public import AssayCore
internal import AssayEngine

/// What a ``DecisionReplay`` found.
public struct ReplayReport: Sendable {
    /// How many lines were read.
    public internal(set) var lines = 0
    /// How many of them are decisions.
    public internal(set) var decisions = 0
    /// How many decisions would come out as they are recorded.
    public internal(set) var same = 0
    /// How many decisions would come out differently.
    public internal(set) var changedCount = 0
    /// Those decisions, by what would change; the largest group first.
    public internal(set) var changed: [(group: DecisionReplay.Group, count: DecisionReplay.Count)] = []
    /// How many decisions would change and are in no group, because there were too many groups.
    public internal(set) var ungrouped = 0
    /// How many decisions the old policies would not have made: they were recorded under others.
    public internal(set) var otherPolicies = 0
    /// How many decisions could not be judged, by the cause.
    public internal(set) var notJudged: [ExactText: Int] = [:]
    /// How many lines are sums of decisions without lines of their own.
    public internal(set) var sums = 0
    /// How many decisions these stand for.
    public internal(set) var summed: Int64 = 0
    /// How many lines are about changes of the service itself.
    public internal(set) var events = 0
    /// How many lines are not those of an audit file.
    public internal(set) var malformed = 0
    /// The place of the first of them.
    @Exact public internal(set) var firstMalformed: String?

    /// The report for people.
    public var text: [String] {
        var text = changed.map { group, count in
            let rule = group.rule.map { " (rule \($0))" } ?? ""
            return "\(group.resource.isEmpty ? "(unknown resource)" : group.resource) \(group.method): "
                + "\(group.old) -> \(group.new)\(rule): \(count.count), such as \(count.examples.joined(separator: ", "))"
        }
        if ungrouped > 0 { text.append("and \(ungrouped) in further groups") }
        text.append("\(decisions.counting("recorded decision")): \(same) the same, \(changedCount) different")
        if otherPolicies > 0 {
            text.append("\(otherPolicies.counting("was", "were")) recorded under other policies than the old ones")
        }
        for (why, count) in notJudged.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            text.append("\(count) not judged: \(why)")
        }
        let verbs = { (count: Int) in count == 1 ? "was passed over" : "were passed over" }
        if sums > 0 { text.append("\(sums.counting("sum")) of \(summed.counting("decision")) \(verbs(sums))") }
        if events > 0 {
            text.append("\(events.counting("change", "changes")) of the service \(verbs(events))")
        }
        if malformed > 0 {
            let place = firstMalformed ?? "an unknown place"
            text.append("\(malformed.counting("malformed line, at", "malformed lines, the first at")) \(place)")
        }
        return text
    }

    /// The report for programs: an object for each group, and one with all counts.
    public var json: [JSON] {
        let groups: [JSON] = changed.map { group, count in
            [
                "resource": group.resource.isEmpty ? .null : .string(group.resource), "method": .string(group.method),
                "old_outcome": .string(group.old), "new_outcome": .string(group.new),
                "rule": group.rule.map { .string($0) } ?? .null, "count": .integer(Int64(count.count)),
                "examples": .array(count.examples.map { .string($0) }),
            ]
        }
        let causes = notJudged.sorted { $0.key < $1.key }.map { JSONMember($0.key.string, .integer(Int64($0.value))) }
        let counts: JSON = [
            "lines": .integer(Int64(lines)), "decisions": .integer(Int64(decisions)), "same": .integer(Int64(same)),
            "different": .integer(Int64(changedCount)), "ungrouped": .integer(Int64(ungrouped)),
            "other_policies": .integer(Int64(otherPolicies)), "not_judged": .object(causes),
            "sums": .integer(Int64(sums)), "summed": .integer(summed), "events": .integer(Int64(events)),
            "malformed": .integer(Int64(malformed)), "first_malformed": firstMalformed.map { .string($0) } ?? .null,
        ]
        return groups + [["decisions": counts]]
    }
}
