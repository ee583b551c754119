import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy check --without-secrets")
struct WithoutSecretsTests {
    private static let set = """
        callers:
          backend: {token: "file:/absent/token", permissions: [appCheckTokens.verify]}
        projects:
          - number: 1
            id: example
            apps:
              - id: "1:1:ios:a"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest: {risk_metric: {key_id: ABCDE12345, private_key: "file:/absent/one.p8"}}
                  device_check: {key_id: ABCDE12345, private_key: "file:/absent/two.p8"}
                  debug: {tokens: [{name: x, token: "env:ABSENT_TOKEN"}]}
                  custom: {service_accounts: [{key_file: "file:/absent/account.json"}]}
            consumers:
              fleet_engine:
                account: file:/absent/fleet.json
                actors: [{issuer: https://login.example.com/, audiences: [x], jwks: "file:/absent/jwks.json"}]
                roles: {driver: {vehicle: {claim: vehicle_id}}}
        """

    private func check(_ text: String, _ arguments: String...) async throws -> AssayProcess.Result {
        try await withTemporaryFolder { folder in
            try Data(text.utf8).write(to: folder.appendingPathComponent("a.yaml"))
            let process = try AssayProcess(["policy", "check", "."] + arguments, folder: folder)
            return await process.result()
        }
    }

    @Test("Every plugin's section is checked where no secret is, and the secrets are counted")
    func all() async throws {
        let result = try await check(Self.set, "--without-secrets")
        #expect(result.errors == "")
        #expect(result.output == ".: 1 app and 0 OAuth clients, all good; 7 secrets not read\n")
        #expect(result.status == 0)
        let json = try await check(Self.set, "--without-secrets", "--format", "json")
        #expect(
            json.output
                == #"{"summary":{"errors":0,"warnings":0,"omitted":0,"apps":1,"oauth_clients":0,"secrets_not_read":7}}"#
                + "\n")
        let strict = try await check(Self.set)
        #expect(strict.status == 1)
        #expect(strict.errors.hasSuffix(".: 7 errors\n"))
    }

    @Test(
        "What is wrong besides is found",
        arguments: [
            (
                "key_id: ABCDE12345, private_key: \"file:/absent/two.p8\"",
                "key_id: x, private_key: \"file:/absent/two.p8\"", "11:34"
            ),
            ("\"file:/absent/two.p8\"", "\"MIGHAgEAMBMG\"", "11:59"),
            ("claim: vehicle_id", "clam: vehicle_id", "18:36"),
            ("appCheckTokens.verify", "appCheckTokens.verifi", "2:56"),
            ("app_attest: {", "app_attest: {receipts: never, ", "10:34"),
        ])
    func wrong(part: String, with: String, place: String) async throws {
        let result = try await check(Self.set.replacing(part, with: with), "--without-secrets")
        #expect(result.status == 1)
        #expect(result.errors.contains("./a.yaml:\(place): "))
        #expect(!result.errors.contains("secrets are not read"))
        #expect(!result.errors.contains("MIGH"))
    }
}
