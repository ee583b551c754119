internal import ArgumentParser
internal import AssayCore
internal import AssayEngine
internal import AssayKit
internal import AssayPolicy
internal import AssayPolicyTools
internal import AssayServer
internal import AssayYAML

/// `assay policy test`.
struct PolicyTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Test policies by the cases beside them; offline.",
        discussion: """
            Runs the tests in the files *_test.yaml of the folder. A test says how facts, the evidence of a simulated \
            device, a recorded decision or a caller must be judged. No secret is needed.

            A test that fails is shown with the place of what it expects and with the rule that decided; the last line has the \
            numbers. With --verbose, every test has a line.

            With --coverage, what no test looks at is listed with its place: providers of apps, rules, and the conditions of \
            rules, each of which must hold in one test and not in another. Tests with `device` then also run without each \
            setting of the provider, to find out which of them matter. Settings do not count towards the percentage.

            With --format json, standard output has one JSON object a line. A test has `test`, `form`, `file`, `line`, \
            `column`, `result` (passed, failed, not_run), `found`, `failures` and `reason`; a member without a value is null. With --coverage, each item has a \
            line {"coverage": {…}}. The last line is {"summary": {…}}.

            Exits with 0 when all tests passed, with 1 when one failed or too little is covered, and with 2 when policies or \
            tests are wrong, or a test could not run.
            """)

    @Argument(help: "The folder of policy files and tests.")
    var directory = "policies"

    @Option(help: "Run only the tests with this text in their names.")
    var filter: String?

    @Flag(help: "Print a line for each test.")
    var verbose = false

    @Option(help: "The output format.")
    var format = PolicyCheckFormat.text

    @Flag(help: "Print what of the policies no test looks at.")
    var coverage = false

    @Option(
        help: "Fail if less than this is covered, in percent.", valueName: "percent", reading: .number(0...100))
    var coverageAtLeast: Int?

    func run() async throws {
        let report: PolicyTestReport
        do {
            report = try await PluginProcesses.with(in: PolicyDirectory(directory)) { try await test($0) }
        } catch let problems as Diagnostics {
            try note(problems)
            throw ExitCode.couldNotRun
        }
        let output = PolicyTestOutput(report: report, isVerbose: verbose, coverage: coverage ? report.coverage : nil)
        switch format {
        case .text: for line in output.texts { try Terminal.say(line) }
        case .json: for line in output.lines { try Terminal.say(String(decoding: line.encoded, as: UTF8.self)) }
        }
        if report.failed > 0 { throw ExitCode.failure }
        if report.notRun > 0 { throw ExitCode.couldNotRun }
        if let coverageAtLeast, report.coverage.percent < coverageAtLeast {
            Terminal.report("\(report.coverage.percent) % are covered, less than \(coverageAtLeast) %")
            throw ExitCode.failure
        }
    }

    private func test(_ registry: Registry) async throws -> PolicyTestReport {
        let folder = PolicyDirectory(directory)
        let files = try folder.testFiles()
        guard !files.isEmpty else {
            Terminal.report("\(directory) has no tests: no file that ends in _test.yaml")
            throw ExitCode.couldNotRun
        }
        let simulators = PolicyTests.needSimulators(files) ? try AssayProgram.current.simulators : []
        let tests = try PolicyTests(files, of: folder.read(), registry: registry, simulators: simulators)
        if simulators.isEmpty, tests.usesDevices {
            Terminal.report(
                "tests with `device` do not run: this program has no suites with simulated devices (package trait Simulator)"
            )
        }
        let report = try await tests.run(filter: filter, findsDecisiveSettings: coverage)
        if let filter, report.results.isEmpty, tests.count > 0 {
            Terminal.report("no test has '\(filter.filter { $0.isASCII && !$0.isNewline })' in its name")
            throw ExitCode.couldNotRun
        }
        return report
    }

    private func note(_ problems: Diagnostics) throws {
        switch format {
        case .text:
            for problem in problems.all { Terminal.note(problem.description) }
            if problems.omitted > 0 { Terminal.note("and at least \(problems.omitted) more") }
        case .json:
            for problem in problems.all {
                try Terminal.say(String(decoding: PolicyReport.line(problem).encoded, as: UTF8.self))
            }
        }
    }
}

extension AssayProgram {
    /// The simulators of the program's suites.
    var simulators: [any EvidenceSimulator] {
        get throws { try suites().compactMap { ($0 as? any SimulatingSuite)?.simulator } }
    }
}
