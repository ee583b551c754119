import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayPolicyTools
import AssayServices
import AssayStandard
import AssayTestSupport
import AssayYAML
import Foundation
import Logging
import Testing

@Suite("Policies that say once what apps share, with the standard plugins")
struct SharedPolicyTests {
    private static let set = """
        version: 1
        apple_teams:
          ABCDE12345: {device_check: {key_id: DCKEY12345, private_key: "env:PRIVATE_KEY"}}
        issuers:
          login: {issuer: https://login.example.com/, audiences: [https://assay.example.com], jwks: https://login.example.com/jwks}
        profiles:
          ios: {apple: {team_id: ABCDE12345}, providers: {app_attest: {receipts: required}, device_check: {}}}
          ios-dev: {extends: ios, providers: {debug: {managed: {limit: 20}}}}
        projects:
          - number: 1234567890
            id: example-project
            stage: development
            apps:
              - {id: "1:1234567890:ios:321abc456def7890", profile: ios-dev, apple: {bundle_id: com.example.app}}
            consumers: {fleet_engine: {account: "env:FLEET_ENGINE", actors: [login], roles: {driver: {vehicle: {claim: vehicle_id}}}}}
        """

    private func check(_ text: String, production: Bool = false) throws -> (
        problems: [Diagnostic], warnings: [Diagnostic]
    ) {
        let fixtures = try SchemaFixtures()
        let host = PluginHost(
            store: MemoryStore(clock: .system), secrets: SecretSource { fixtures.secret($0) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: text)])
        let registry = try Registry(.standard, administration: .api)
        do throws(Diagnostics) {
            let warnings = try policies.check(registry, host: host, refusesDevelopment: production)
            return ([], warnings?.all ?? [])
        } catch {
            return (error.all, [])
        }
    }

    @Test(
        "A set with all of it is good, and a server for production refuses what is for development, once and at its place"
    )
    func whole() throws {
        let (problems, warnings) = try check(Self.set)
        #expect(problems.map(\.description) == [])
        #expect(warnings.map(\.description) == [])
        let refused = try check(Self.set, production: true).problems.map {
            "\($0.location.map { "\($0.line):\($0.column)" } ?? "") \($0.message)"
        }
        #expect(
            refused == [
                "8:39 the provider `debug` is for development, and this server is for production",
                "12:12 `stage: development` is for development, and this server is for production",
            ])
    }

    @Test("The example of the documentation is good")
    func documented() throws {
        let page = repository.appendingPathComponent("Sources/AssayEngine/AssayEngine.docc/WritePolicies.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let start = try #require(text.range(of: "```yaml\napple_teams:"))
        let end = try #require(text.range(of: "```", range: start.upperBound..<text.endIndex))
        let block = "apple_teams:" + text[start.upperBound..<end.lowerBound]
        let (problems, warnings) = try check(
            block.replacing("file:/run/secrets/device-check.p8", with: "env:PRIVATE_KEY"))
        #expect(problems.map(\.description) == [])
        #expect(warnings.map(\.description) == [])
    }

    @Test("A key that a team lacks is missed at the app, and one that is wrong in the team is shown there")
    func teams() throws {
        let missing = try check(Self.set.replacing("key_id: DCKEY12345, ", with: "")).problems
        #expect(missing.map(\.message) == ["missing key `key_id`"])
        #expect(missing.first?.path == "projects[0].apps[0].providers.device_check.key_id")
        let wrong = try check(Self.set.replacing("DCKEY12345", with: "dc")).problems
        #expect(wrong.count == 1)
        #expect(wrong.first?.location.map { "\($0.line)" } == "3")
    }

    @Test("Which use of a plugin an error prevents is known for every app that shares the section")
    func uses() throws {
        let text = Self.set.replacing("receipts: required", with: "receipts: requird").replacing(
            "    consumers:",
            with: """
                      - {id: "1:1234567890:ios:2", profile: ios-dev, apple: {bundle_id: com.example.two}}
                    consumers:
                """)
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: text)])
        let (problems, _) = try check(text)
        #expect(problems.count == 1)
        let uses = policies.uses(problems: Diagnostics(try #require(problems.first))).filter {
            $0.plugin == "app_attest"
        }
        #expect(uses.count == 2)
        #expect(uses.allSatisfy { $0.problem?.location?.line == 7 })
    }
}
