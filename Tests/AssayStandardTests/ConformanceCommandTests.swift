import AssayCore
import AssayTestSupport
import Testing

@Suite("The subcommand conformance")
struct ConformanceCommandTests {
    @Test("It lists the plugins that have a suite")
    func list() async throws {
        let result = try await AssayProcess.run("conformance", "--list")
        #expect(result.status == 0)
        for line in ["provider app_attest", "consumer fleet_engine", "store memory"] {
            #expect(result.lines.contains(line))
        }
    }

    @Test("It prints a table for a README, and JSON")
    func reports() async throws {
        let table = try await AssayProcess.run("conformance", "--quick", "debug")
        let hasFailed = table.lines.contains { $0.hasPrefix("| `") && $0.contains("failed") }
        #expect(table.status == (hasFailed ? 1 : 0), "\(table.output)")
        #expect(table.lines.contains("| check | rule | result |"))
        // Its processes do nothing else, so that what calls cost is looked at.
        for check in ["time", "memory"] {
            let line = table.lines.first { $0.hasPrefix("| `\(check)` |") }
            #expect(line?.contains("not looked at") == false, "\(line ?? "no line")")
        }
        #expect(table.lines.contains { $0.hasPrefix("| `bit-flips` |") && $0.contains("passed (") })
        #expect(table.output.contains("not applicable: a debug token is a secret that is good until it is removed"))
        let json = try await AssayProcess.run("conformance", "--quick", "--json", "debug", "memory")
        let reports = try JSON.parse(Array(json.output.utf8)).array ?? []
        #expect(reports.map { $0["name"] } == ["debug", "memory"])
        #expect(reports.allSatisfy { $0["effort"] == "quick" })
        for report in reports {
            let failed = (report["checks"]?.array ?? []).filter { $0["result"] == "failed" }
            // The machine has other tests to run, and these two measure.
            #expect(failed.allSatisfy { $0["check"] == "time" || $0["check"] == "memory" }, "\(failed)")
            #expect(report["passed"] == .bool(failed.isEmpty))
        }
    }

    @Test("A name without a suite is an error that names the others")
    func unknown() async throws {
        let result = try await AssayProcess.run("conformance", "nobody")
        #expect(result.status == 2)
        #expect(result.errors.contains("no plugin 'nobody' with a suite"))
        #expect(result.errors.contains("app_attest"))
        #expect(result.output.isEmpty)
    }
}

/// Stores that no process survives.
@Suite("Conformance of stores that end their process")
struct UnrulyStoreTests {
    @Test(
        "The report of a store that crashes or never answers is complete, and says what happened",
        arguments: [
            ("traps", "ended its process: signal"), ("exits", "ended its process: exit status 0"),
            ("recurses", "ended its process: signal"), ("hangs", "hangs: `put` did not end within 5 seconds"),
            ("blocks", "hangs: `put` did not end within 5 seconds"),
        ])
    func unruly(_ way: String, finding: String) async throws {
        let process = try AssayProcess(["conformance", "--quick", "--json", way], of: "wrong-stores")
        let result = await process.result()
        #expect(result.status == 1)
        let report = try #require(JSON.parse(Array(result.output.utf8)).array?.first)
        #expect(report["version"] == "2.0.0")
        let checks = report["checks"]?.array ?? []
        #expect(checks.count == 31)
        let failed = checks.filter { $0["result"] == "failed" }
        #expect(failed.map { $0["check"] } == ["values"])
        let words = failed.first?["findings"]?.array?.first?.string ?? ""
        #expect(words.hasPrefix(finding), "\(words)")
        #expect(failed.first?["rule"]?.string?.contains("1 MiB") == true)
    }
}
