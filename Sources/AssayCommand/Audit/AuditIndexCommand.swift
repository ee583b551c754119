internal import ArgumentParser
internal import AssayAudit

/// `assay audit index`.
struct AuditIndexCommand: ParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "index", abstract: "Make the indexes that look-ups in audit files use.",
            discussion: """
                The index of FILE is FILE.idx. It is made by the first look-up as well, and can be removed at any time; an index that \
                does not fit its file is made again. While the file grows, only what is new is read. See \
                `\(program) decisions --help` for the look-ups.
                """)
    }

    @Argument(help: ArgumentHelp("Audit files, folders or patterns.", valueName: "path"))
    var paths: [String]

    func run() throws {
        do {
            var failed = false
            for outcome in try AuditIndexing.index(paths) {
                if let failure = outcome.failure {
                    Terminal.report("\(outcome.path): \(failure)")
                    failed = true
                } else {
                    try Terminal.say("\(outcome.path): \(outcome.blocks) blocks, \(outcome.bytes >> 20) MiB read")
                }
            }
            if failed { throw ExitCode.refused }
        } catch let error as AuditFileError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
