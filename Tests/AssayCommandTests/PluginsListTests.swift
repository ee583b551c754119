import AssayCore
import AssayTestSupport
import Testing

@Suite("The subcommand plugins list")
struct PluginsListTests {
    @Test("It says what each plugin is, proves and trusts")
    func list() async throws {
        let result = try await AssayProcess.run("plugins", "list")
        #expect(result.status == 0)
        for kind in ["provider app_attest", "consumer oauth_client", "store sqlite", "sink webhook"] {
            #expect(result.lines.contains { $0.hasPrefix(kind) }, "\(kind)")
        }
        #expect(result.lines.contains { $0.hasPrefix("  proves: Apple made the device token") })
        #expect(result.lines.contains { $0.contains("for development only") })
        let marked = result.lines.filter {
            $0.contains("key_id (digest, identifies the attester), key_age (duration), ")
        }
        // App Attest's, and those of Android keys.
        #expect(marked.count == 2)
    }

    @Test("A store and a sink say how they are written, and what survives")
    func storage() async throws {
        let result = try await AssayProcess.run("plugins", "list")
        for line in [
            "  written as: sqlite:PATH", "  what was written survives: a loss of power",
            "  written as: webhook:URL[#bearer=env:NAME]",
        ] {
            #expect(result.lines.contains(line), "\(line)")
        }
    }

    @Test("As JSON it has everything that a plugin declares")
    func json() async throws {
        let result = try await AssayProcess.run("plugins", "list", "--json")
        let list = try JSON.parse(Array(result.output.utf8))
        let plugins = try #require(list["plugins"]?.array)
        let debug = try #require(plugins.first { $0["name"] == "debug" })
        #expect(debug["kind"] == "provider")
        #expect(debug["contract"] == 3)
        #expect(debug["limits"]?["evidence_bytes"] == 4096)
        #expect(debug["for_development"] == true)
        let facts = try #require(debug["facts"]?.array)
        let attesters = facts.filter { $0["identifies_attester"] == true }.map { $0["name"] }
        #expect(facts.count > 1 && attesters == ["debug_token_id"])
    }
}
