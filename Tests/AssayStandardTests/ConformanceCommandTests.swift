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
        #expect(table.status == 0, "\(table.output)")
        #expect(table.lines.contains("| check | rule | result |"))
        #expect(table.lines.contains { $0.hasPrefix("| `bit-flips` |") && $0.contains("passed (") })
        #expect(table.output.contains("not applicable: a debug token is a secret that is good until it is removed"))
        let json = try await AssayProcess.run("conformance", "--quick", "--json", "debug", "memory")
        let reports = try JSON.parse(Array(json.output.utf8)).array ?? []
        #expect(reports.map { $0["name"] } == ["debug", "memory"])
        #expect(reports.allSatisfy { $0["passed"] == true && $0["effort"] == "quick" })
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
