internal import ArgumentParser
internal import AssayCore
internal import AssayYAML

/// `assay reasons`.
struct ReasonsCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "reasons", abstract: "List the reasons for which evidence and tokens are refused.",
            discussion: """
                Their codes are in audit records, in logs and in the output of `\(program) verify`; they never change their \
                meaning. With a code, it prints what to do about this reason, and what the client gets.
                """)
    }

    @Argument(help: "The code of one reason.")
    var code: String?

    @Flag(help: "Print the page of the documentation, in Markdown.")
    var markdown = false

    func run() throws {
        let page = ReasonPage(try AssayProgram.current.registry(), commands: AssayProgram.current.commands)
        if let code {
            guard let explanation = page.explanation(of: code) else {
                let near = Spelling.guess(for: code, among: page.codes).map { "\($0); " } ?? ""
                Terminal.report(
                    "unknown reason '\(LogField.words(code, limit: 80))'; \(near)`\(AssayProgram.current.name) reasons` lists all"
                )
                throw ExitCode.couldNotRun
            }
            return try Terminal.say(explanation)
        }
        if markdown { return try Terminal.say(page.markdown) }
        for line in page.lines { try Terminal.say(line) }
    }
}
