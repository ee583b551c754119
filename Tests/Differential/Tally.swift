import AssayYAML

/// What was compared, and where tools and the server disagree.
struct Tally {
    /// What says something of policies.
    enum Tool: String, CaseIterable {
        case diff = "policy diff"
        case explain = "policy explain"
        case facts = "policy test, facts"
        case device = "policy test, device"
        case decision = "policy test, decision"
        case caller = "policy test, caller"
        case request = "policy test, request"
        case evidence = "decisions replay"
    }

    var policies = 0
    var invalid = 0
    var requests = 0
    var comparisons: [Tool: Int] = [:]
    var notJudged = 0
    /// How often the other policies led to another end.
    var different = 0
    var disagreements: [String] = []
    /// Why sets of policies were refused.
    var problems: [String: Int] = [:]

    var all: Int { comparisons.values.reduce(0, +) }

    mutating func refuse(_ error: any Error) {
        invalid += 1
        let first = (error as? Diagnostics)?.all.first?.message ?? "\(error)"
        problems[first.replacing(/`[^`]*`/, with: "`…`"), default: 0] += 1
    }

    mutating func compare(_ tool: Tool, _ isTrue: Bool, _ words: @autoclosure () -> String) {
        comparisons[tool, default: 0] += 1
        if !isTrue, disagreements.count < 20 { disagreements.append("\(tool.rawValue): \(words())") }
    }

    /// The figures, for people.
    var text: String {
        let tools = Tool.allCases.map { "\($0.rawValue) \(comparisons[$0] ?? 0)" }.joined(separator: ", ")
        return
            "\(policies) sets of policies (\(invalid) invalid), \(requests) requests, \(all) comparisons (\(tools)), "
            + "\(disagreements.count) disagreements, \(different) different, \(notJudged) not judged"
    }
}
