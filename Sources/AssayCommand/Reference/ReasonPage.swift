internal import AssayCore
internal import AssayEngine
internal import AssayHTTP
internal import AssayKit
internal import AssayPolicyTools

/// What is known of each reason: for `assay reasons`.
struct ReasonPage {
    /// One reason, and what clients are told where it is the cause.
    struct Entry {
        let reason: Reason
        /// The plugin's name, or what else refuses.
        let owner: String
        /// What clients see, for people; empty where no client is concerned.
        let answers: [String]
    }

    let entries: [Entry]

    /// - Parameter commands: the subcommands of plugins, which have reasons of their own.
    init(_ plugins: Registry, commands: [PluginCommand]) {
        let listed = plugins.listedReasons.map { listed in
            Entry(
                reason: listed.reason, owner: listed.plugin ?? "the kernel",
                answers: Self.answers(listed.answers, plugins))
        }
        entries = listed + commands.flatMap(\.reasons).map { Entry(reason: $0, owner: "the command", answers: []) }
    }

    /// The reasons with their summaries, one a line.
    var lines: [String] {
        let width = entries.map(\.reason.code.count).max() ?? 0
        return entries.map { entry in
            let code = entry.reason.code
            return code + String(repeating: " ", count: width - code.count + 2) + entry.reason.summary
        }
    }

    /// The codes of all reasons.
    var codes: [String] { entries.map(\.reason.code) }

    /// All that is known of one reason; nil for an unknown code.
    func explanation(of code: String) -> String? {
        entries.first { $0.reason.code.isExactly(code) }.map { entry in
            ([entry.reason.code, "", "Meaning:  \(entry.reason.summary)"]
                + (entry.reason.advice.isEmpty ? [] : ["What to do:  \(entry.reason.advice)"])
                + entry.answers.map { "The client gets:  \($0)" } + ["Refused by:  \(entry.owner)"])
                .joined(separator: "\n")
        }
    }

    /// The page *Reasons* of the documentation.
    var markdown: String {
        let program = AssayProgram.current.name
        var parts = [
            """
            Every reason for which evidence, tokens and requests are refused: what it means, what an operator does about it, \
            and what the client gets. Codes are in the audit records, in the log and in the label `reason` of \
            `assay_decisions_total`. They never change their meaning. `\(program) reasons CODE` prints one of them.
            """,
            """
            Clients do not see the reason. They get the HTTP status and the error that is named above each table. Errors in \
            capitals are `error.status` of App Check's error body, others are `error` of OAuth's. In brackets are the \
            methods, or the plugins by all methods of which the client gets this answer.
            """,
        ]
        var rest = entries[...]
        var owner = ""
        while let first = rest.first {
            if !first.owner.isExactly(owner) {
                owner = first.owner
                parts.append("## \(Self.title(owner))")
            }
            let group = rest.prefix { $0.owner.isExactly(owner) && $0.answers.areExactly(first.answers) }
            rest = rest.dropFirst(group.count)
            parts.append(Self.introduction(first.answers))
            parts.append(
                Markdown.table(
                    ["reason", "meaning", "what to do"],
                    group.map { [Markdown.code($0.reason.code), $0.reason.summary, $0.reason.advice] }))
        }
        return Markdown.page(
            "Reasons", "Look up why a request was refused, and what to do about it.",
            by: "\(program) reasons --markdown",
            parts)
    }

    private static func title(_ owner: String) -> String {
        switch ExactText(owner) {
        case "the kernel": "The kernel"
        case "the command": "The command `\(AssayProgram.current.name) verify`"
        default: Markdown.code(owner)
        }
    }

    private static func introduction(_ answers: [String]) -> String {
        if answers.isEmpty { return "Clients receive nothing:" }
        guard answers.count > 1 else { return "The client gets \(answers[0]):" }
        return "The client gets:\n\n" + answers.map { "- \($0)" }.joined(separator: "\n")
    }

    /// Each distinct answer once, and the methods that give it where there are several answers.
    private static func answers(_ answers: [ReasonSummary.Answer], _ plugins: Registry) -> [String] {
        var groups: [(text: String, methods: [String])] = []
        for answer in answers {
            guard let seen = HTTPReference.answer(to: answer.failure, of: answer.method) else { continue }
            let text = "\(seen.status) " + (seen.error.map { Markdown.code($0) } ?? "without a body")
            if let index = groups.firstIndex(where: { $0.text.isExactly(text) }) {
                groups[index].methods.append(answer.method.name)
            } else {
                groups.append((text, [answer.method.name]))
            }
        }
        // Where the answers do not depend on the method, they depend on what the request holds.
        guard let first = groups.first, !groups.allSatisfy({ $0.methods.areExactly(first.methods) }) else {
            return groups.map(\.text)
        }
        return groups.map { group in
            let others = groups.filter { !$0.text.isExactly(group.text) }.flatMap(\.methods)
            let divided = Set(exactly: others.compactMap { plugins.plugin(of: $0) })
            var names: [String] = []
            for method in group.methods {
                let plugin = plugins.plugin(of: method).flatMap { divided.contains(ExactText($0)) ? nil : $0 }
                let name = plugin ?? method
                if !names.contains(exactly: name) { names.append(name) }
            }
            return "\(group.text) (\(Markdown.code(names.sortedExactly())))"
        }
    }
}

extension [String] {
    fileprivate func areExactly(_ others: [String]) -> Bool {
        count == others.count && zip(self, others).allSatisfy { $0.isExactly($1) }
    }
}
