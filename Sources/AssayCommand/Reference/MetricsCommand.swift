internal import ArgumentParser

/// `assay metrics`.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics", abstract: "List the metrics that a server shows at /metrics.",
        discussion: "It covers all plugins of this program.")

    @Flag(help: "Print the page of the documentation, in Markdown.")
    var markdown = false

    func run() throws {
        let page = try MetricPage(AssayProgram.current.registry())
        if markdown { return try Terminal.say(page.markdown) }
        for line in page.lines { try Terminal.say(line) }
    }
}
