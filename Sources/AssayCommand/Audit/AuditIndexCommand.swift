internal import ArgumentParser
internal import AssayServices

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

                Exit codes: 0 when each file has its index, 2 when a file could not be read to its end or its index not be written.
                """)
    }

    @Argument(help: ArgumentHelp("Audit files, folders or patterns.", valueName: "path"))
    var paths: [String]

    func run() throws {
        do {
            var failed = false
            var empty: [String] = []
            let outcomes = try AuditIndexing.index(paths, empty: &empty)
            for folder in empty { Terminal.report("no audit file in \(folder)") }
            for outcome in outcomes {
                if let failure = outcome.failure {
                    Terminal.report(failure)
                    failed = true
                } else {
                    try Terminal.say("\(outcome.path): \(outcome.blocks) blocks, \(outcome.bytes >> 20) MiB read")
                }
                if !outcome.hasDecisions { Terminal.report(AuditLookup.noRecord(outcome.path)) }
            }
            if failed || outcomes.isEmpty { throw ExitCode.couldNotRun }
        } catch let error as AuditFileError {
            Terminal.report(error)
            throw ExitCode.couldNotRun
        }
    }
}
