internal import ArgumentParser
internal import AssayCore
internal import AssayKit
internal import AssayPolicy
internal import AssayServer
internal import AssayYAML
internal import Logging

/// `assay conformance`.
struct ConformanceCommand: AsyncParsableCommand {
    static var configuration: CommandConfiguration {
        let program = AssayProgram.current.name
        return CommandConfiguration(
            commandName: "conformance", abstract: "Check plugins against their contract.",
            discussion: """
                For each plugin an engine runs in a process of its own, with a simulated device or client. From genuine requests hostile \
                ones are derived: cut off, with single bits changed, from another app, too late, too large; servers and the \
                state store fail. `\(program) conformance app_attest` prints a table in Markdown, for the plugin's README.

                Without a name, all plugins are checked that have a suite; --list prints their names. With --policies these are the \
                plugins in processes of their own; their processes serve `Simulator` of plugin.proto too, which makes the genuine \
                requests.

                A plugin that hangs or crashes fails the check during which it does so; the report comes in any case. A line says \
                `not looked at` where a check cannot see whether a rule is kept, and why.

                Exits with 1 when a plugin breaks a rule.
                """)
    }

    @Argument(
        help: ArgumentHelp(
            "The plugins to check: names as in policies, schemes of stores and sinks.", valueName: "name"))
    var names: [String] = []

    @Option(
        help: ArgumentHelp(
            "Check the plugins in processes of their own that plugins.yaml in this folder names.", valueName: "folder"),
        completion: .directory)
    var policies: String?

    @Flag(help: "Try a few dozen variants of each field, and not every byte.")
    var quick = false

    @Flag(help: "Print JSON: a list with one report for each plugin.")
    var json = false

    @Flag(help: "List the plugins that have a suite, and check nothing.")
    var list = false

    @Option(help: ArgumentHelp("", visibility: .private)) var suite: Int?

    @Option(help: ArgumentHelp("", visibility: .private)) var checks: String?

    func run() async throws {
        if let suite {
            return try await CheckProcess.serve(
                suite, of: try AssayProgram.current.suites(), effort,
                checks: checks?.split(onASCII: ",").map(String.init))
        }
        guard let policies else { return try await check(try AssayProgram.current.suites()) }
        let logger = Logger(label: AssayProgram.current.name, factory: { _ in SwiftLogNoOpLogHandler() })
        do {
            let processes = try await PluginProcesses.start(
                in: PolicyDirectory(policies), checksOnly: false, logger: logger)
            do {
                try await check(await processes.suites())
            } catch {
                await processes.stop()
                throw error
            }
            await processes.stop()
        } catch let problems as Diagnostics {
            for problem in problems.all { Terminal.note(problem.description) }
            throw ExitCode.couldNotRun
        }
    }

    private var effort: ConformanceEffort { quick ? .quick : .full }

    private func check(_ suites: [any ConformanceSuite]) async throws {
        if list {
            for suite in suites { try Terminal.say("\(suite.kind.rawValue) \(suite.name)") }
            return
        }
        guard !suites.isEmpty else {
            Terminal.report(
                policies.isNil
                    ? "this program has no suites: those of its own plugins need the package trait Simulator"
                    : "no plugin is named in plugins.yaml, or this program has no suites: they need the package trait Simulator"
            )
            throw ExitCode.couldNotRun
        }
        var reports: [ConformanceReport] = []
        for (index, suite) in try chosen(of: suites) {
            // Plugins with policies have processes already.
            let report =
                if policies.isNil {
                    await SeparateReport(suite: suite, index: index, effort: effort).make()
                } else {
                    await suite.report(effort)
                }
            reports.append(report)
            if !json { try Terminal.say(report.markdown) }
        }
        if json { try Terminal.say(PrettyJSON.text(of: .array(reports.map(\.json)))) }
        guard reports.allSatisfy(\.isPassed) else { throw ExitCode.failure }
    }

    private func chosen(of suites: [any ConformanceSuite]) throws -> [(offset: Int, element: any ConformanceSuite)] {
        let suites = Array(suites.enumerated())
        guard !names.isEmpty else { return suites }
        return try names.flatMap { name in
            let found = suites.filter { $0.element.name.isExactly(name) }
            guard !found.isEmpty else {
                let known = suites.map(\.element.name).joined(separator: ", ")
                Terminal.report(
                    "no plugin '\(name.filter { $0.isASCII && !$0.isNewline })' with a suite; there are \(known)")
                throw ExitCode.couldNotRun
            }
            return found
        }
    }
}
