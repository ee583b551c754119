internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayServices

/// `assay decisions show`.
struct DecisionsShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Explain one decision in words.",
        discussion: "Clients get the identifier of a decision with each answer: the header field x-assay-decision.")

    @Argument(help: "The identifier of the decision.")
    var decision: String

    @OptionGroup var options: LookupOptions

    func run() throws {
        let found = try options.run { try $0.find(decision) }
        options.note(found.notes)
        guard let line = found.lines.first else {
            options.report(nothing: "record of the decision \(DecisionTable.shown(decision))", in: found.extent)
            Terminal.note(
                """
                A request of a stranger above the recorded rate is only in a sum (outcome "summed"), and a request that led to no \
                decision has no record. Records may also be in other files, or in files that were removed.
                """)
            try LookupOptions.check(found.isIncomplete)
            throw ExitCode.refused
        }
        try say(line)
        try LookupOptions.check(found.isIncomplete)
    }

    private func say(_ line: [UInt8]) throws {
        if options.format == .json { return try Terminal.say(String(decoding: line, as: UTF8.self)) }
        let record: JSON
        do throws(JSONError) {
            record = try JSON.parse(line, limits: JSON.Limits(bytes: 1 << 20))
        } catch {
            Terminal.report("the record cannot be explained: \(error); --format json prints it as it is")
            throw ExitCode.refused
        }
        let program = AssayProgram.current
        let page = ReasonPage(try program.registry(), commands: program.commands)
        for line in DecisionStory(record, reasons: page).lines { try Terminal.say(line) }
    }
}

/// A record in words, for an operator.
struct DecisionStory {
    private let record: JSON
    private let reasons: ReasonPage

    init(_ record: JSON, reasons: ReasonPage) {
        self.record = record
        self.reasons = reasons
    }

    var lines: [String] {
        var lines = ["Decision \(text("decision") ?? "?"): \(outcome)", ""]
        lines += fields([
            ("When", text("time").map { time in "\(time)\(duration.map { ", took \($0) ms" } ?? "")" }),
            ("Method", text("method")), ("Route", text("route")), ("Resource", text("resource")),
            ("Provider", text("provider")), ("From", text("peer")), ("Caller", text("caller")),
            ("Policies", text("revision")), ("Token", token), ("Use of token", tokenUse),
        ])
        let checks = checks
        if !checks.isEmpty { lines += ["", "What was checked:"] + checks.map { "  \($0)" } }
        if let detail = text("detail") { lines += ["", "Detail:  \(detail)"] }
        for (title, name) in [("Refused", "reason"), ("Not enforced; it would have been refused", "unenforced_reason")]
        {
            guard let code = text(name) else { continue }
            lines += ["", "\(title): \(code)"]
            if let entry = reasons.entries.first(where: { $0.reason.code.isExactly(code) }) {
                lines += Self.explanation(of: entry.reason)
                if name.isExactly("reason") { lines += answers(entry).map { "  The client got:  \($0)" } }
            } else {
                lines.append(
                    "  This version does not know the reason; perhaps a plugin has it that is not in this program.")
            }
        }
        if record["status"] != nil, record["reason"] == nil { lines += ["", advice(forStatus: text("status") ?? "")] }
        return lines
    }

    private func text(_ name: String) -> String? { record[name]?.string.map(DecisionTable.shown) }

    private var duration: String? {
        switch record["duration_ms"] {
        case .integer(let number)?: "\(number)"
        case .number(let number)?: "\(number)"
        default: nil
        }
    }

    private var outcome: String {
        switch ExactText(text("outcome") ?? "") {
        case "challenged": "a challenge was issued"
        case "issued": record["limited_use"]?.bool == true ? "a limited-use token was issued" : "a token was issued"
        case "answered": "the call was answered"
        case "refused": "refused, because of \(text("reason") ?? "?")"
        case "rejected": "the request was rejected with \(text("status") ?? "?"), and nothing was decided"
        case "error": "no decision was possible (\(text("status") ?? "?"))"
        default: text("outcome") ?? "?"
        }
    }

    private var token: String? {
        guard let id = text("jti") else { return nil }
        return "\(id)\(text("expires").map { ", valid until \($0)" } ?? "")"
    }

    private var tokenUse: String? {
        guard let use = record["token_use"] else { return nil }
        var words = [use["category"]?.string ?? "?"]
        if let admitted = use["admitted"]?.bool { words.append(admitted ? "let through" : "not let through") }
        if let app = use["app"]?.string { words.append("app \(app)") }
        if let service = use["service"]?.string { words.append("service \(service)") }
        if let mode = use["enforcement"]?.string { words.append("level \(mode)") }
        return DecisionTable.shown(words.joined(separator: ", "))
    }

    /// The facts, and the rules that read them.
    private var checks: [String] {
        var checks = fields(
            (record["facts"]?.members ?? []).map { member in
                (
                    DecisionTable.shown(member.name),
                    DecisionTable.shown(member.value.string ?? String(decoding: member.value.encoded, as: UTF8.self))
                )
            })
        if let rule = text("rule") { checks.append("The rule '\(rule)' of the policy decided.") }
        for name in record["would_refuse"]?.array ?? [] { checks += tried(DecisionTable.shown(name.string ?? "?")) }
        return checks
    }

    /// What is in shadow and would have refused: a rule, whose name has no colon, or the settings of a provider.
    private func tried(_ name: String) -> [String] {
        guard let colon = name.firstIndex(ofASCII: ":") else {
            return ["The rule '\(name)' is in shadow, and would have refused it."]
        }
        let (provider, code) = (name[..<colon], String(name[name.index(after: colon)...]))
        let reason = reasons.entries.first { $0.reason.code.isExactly(code) }?.reason
        return [
            "The settings in `shadow` of the provider `\(provider)` are in shadow, and would have refused it: \(code)."
        ] + (reason.map { Self.explanation(of: $0) } ?? [])
    }

    private static func explanation(of reason: Reason) -> [String] {
        ["  Meaning:     \(reason.summary)"] + (reason.advice.isEmpty ? [] : ["  What to do:  \(reason.advice)"])
    }

    private func fields(_ fields: [(name: String, value: String?)]) -> [String] {
        let present = fields.compactMap { field in field.value.map { (field.name, $0) } }
        let width = present.map(\.0.count).max() ?? 0
        return present.map { "\($0.0):\(String(repeating: " ", count: width - $0.0.count + 2))\($0.1)" }
    }

    /// What the client got: what the record says, where a policy can choose another status than the reason's.
    private func answers(_ entry: ReasonPage.Entry) -> [String] {
        guard entry.reason.status != .forbidden || record["status"] != nil else { return entry.answers }
        let name = text("status") ?? StatusCode.permissionDenied.rawValue
        let status = RefusalStatus.allCases.first { $0.code.rawValue.isExactly(name) }
        return status.map { ["\($0.rawValue) `\(name)`"] } ?? entry.answers
    }

    private func advice(forStatus status: String) -> String {
        switch ExactText(status) {
        case "UNAVAILABLE":
            "Something that a decision needs did not answer; clients try again. The log has more at this time."
        case "INTERNAL": "A fault of the server or of a plugin. The log has more at this time; please report it."
        case "NOT_FOUND":
            "No policy has the resource. Compare the app ID and the project in the client with the policies."
        case "UNAUTHENTICATED":
            "The caller's credentials are missing or unknown. Compare them with `callers` of the policies."
        case "PERMISSION_DENIED":
            "The caller lacks a permission, or may not act in this project: see `callers` of the policies."
        case "RESOURCE_EXHAUSTED":
            "A rate limit was reached: see the limits of the app or of the caller in the policies."
        case "FAILED_PRECONDITION":
            "The policies do not allow it now: compare what the detail names with the section of the app."
        default:
            "The request does not have the form of the method. The client's version may be too old or too new. Unknown fields can be "
                + "ignored: `unknown_fields: ignore` in the provider's section."
        }
    }
}
