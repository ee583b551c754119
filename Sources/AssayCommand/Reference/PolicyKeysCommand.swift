internal import ArgumentParser

/// `assay policy keys`.
struct PolicyKeysCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "keys", abstract: "List the keys of policy files and their meanings.",
            discussion: """
                It covers the sections of all plugins that this program is built with. For completion in editors see \
                `\(program) policy schema`.
                """)
    }

    @Flag(help: "Print the page of the documentation, in Markdown.")
    var markdown = false

    func run() throws {
        let page = PolicyKeyPage(try AssayProgram.current.registry())
        if markdown { return try Terminal.say(page.markdown) }
        for line in page.lines { try Terminal.say(line) }
    }
}
