#if Simulator
import AssayCore
import AssayKit
import Logging
import Testing

@testable import AssayProcesses

@Suite("The conformance suites of plugins in processes of their own")
struct ProcessSuiteTests {
    /// The only report of a plugin of Tests/ProcessPlugin.
    private func report(
        _ mode: String, kind: PluginKind = .provider, name: String = "ticket"
    ) async throws -> ConformanceReport {
        let logger = Logger(label: "suite", factory: { _ in SwiftLogNoOpLogHandler() })
        let settings = ProcessBench.settings(mode, kind: kind, name: name)
        let processes = await ProcessPlugins.start([settings], logger: logger)
        let suites = await processes.suites()
        #expect(suites.map(\.name) == [name])
        #expect(suites.map(\.kind) == [kind])
        let report = try #require(suites.first)
        let made = await report.report(.quick)
        await processes.stop()
        return made
    }

    @Test("A correct provider passes, with its server, its store, and another process after it was killed")
    func correct() async throws {
        let report = try await report("ticket")
        #expect(report.failures == [])
        #expect(report.version == "1.0.0")
        #expect(report.lines.count >= 25)
        let others = report.lines.filter { line in
            if case .notApplicable = line.outcome { true } else { false }
        }
        // A ticket is good at any time, and in one app.
        #expect(others.map(\.check) == ["replay-in-project", "clock", "adversary-other-challenge"])
        // What the process says of adversaries that it cannot make.
        #expect(report.lines.first { $0.check == "adversary-expired" }?.notLookedAt == "a ticket has no end")
        #expect(report.lines.contains { $0.check == "restart" })
    }

    @Test("A correct consumer passes")
    func consumer() async throws {
        let report = try await report("consumer", kind: .consumer, name: "desk")
        #expect(report.failures == [])
        #expect(report.lines.contains { $0.check == "tokens" })
        #expect(report.lines.first { $0.check == "policy-change" }?.notLookedAt?.contains("refusingSection") == true)
        #expect(report.lines.contains { $0.check == "restart" })
    }

    @Test(
        "A wrong provider fails, at the check that is made for it",
        arguments: [
            ("ticket-credulous", "bit-flips"), ("ticket-forgetful", "restart"), ("ticket-talkative", "secrecy"),
            ("ticket-trusting", "lying-upstream"),
        ])
    func wrong(mode: String, check: String) async throws {
        let report = try await report(mode)
        let failed = report.lines.filter(\.isFailed).map(\.check)
        #expect(failed.contains { $0 == check }, "\(report.failures)")
        #expect(failed.count <= 4, "\(report.failures)")
    }

    @Test("A process without simulated devices, or one that does not run, fails and says so")
    func missing() async throws {
        let none = try await report("ticket-unsimulated")
        #expect(none.lines.map(\.check) == ["simulator"])
        #expect(none.failures.first?.contains("does not serve `assay.plugin.v1.Simulator`") == true)
        let ended = try await report("exit")
        #expect(ended.lines.map(\.check) == ["simulator"])
        #expect(ended.failures.first?.contains("status 7") == true, "\(ended.failures)")
        let endless = try await report("ticket-endless")
        #expect(endless.failures.contains { $0.contains("more than 16 calls") }, "\(endless.failures)")
    }
}
#endif
