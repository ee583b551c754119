import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy show: defaults, and what is not stated")
struct PolicyShowDefaultsTests {
    private static let set = #"""
        profiles:
          base: {apple: {team_id: ABCDE12345}}
        projects:
          - number: 1
            id: example
            stage: development
            consumers:
              oauth_client: {authorization_servers: ["https://login.example.com"], clients: {"1:1:ios:a": c}, tokens: {accept_development: false}, introspection: {}}
              custom_backend: {backends: {orders: {tokens: {limited_use: true}}}}
            apps:
              - id: "1:1:ios:a"
                profile: base
                name: "a\u200Bb"
                apple: {bundle_id: com.example.app}
                rate_limit: {requests: 5, interval: 1s500ms}
                providers: {app_attest: {receipts: null}}
            oauth_clients:
              - {id: client, app: "1:1:ios:a"}
        """#

    private static let app = #"""
        projects:
          - number: 1  # p/a.yaml:4:13
            id: example  # p/a.yaml:5:9
            stage: development  # p/a.yaml:6:12
            issuer: https://firebaseappcheck.googleapis.com/  # default
            verification:
              accept_development: true  # default
              consumption: shared  # default
            services: {}  # default
            consumers:
              oauth_client:
                authorization_servers:
                  - "https://login.example.com"  # p/a.yaml:8:46
                clients:
                  "1:1:ios:a": c  # p/a.yaml:8:99
                tokens:
                  accept_development: false  # p/a.yaml:8:132
                  # limited_use: false  # default
                  # replay_protection: OFF  # default
                introspection: {}  # p/a.yaml:8:155
              custom_backend:
                tokens:
                  accept_development: true  # default
                  # enforcement: ENFORCED  # default
                  # limited_use: false  # default
                  # replay_protection: OFF  # default
                backends:
                  orders:
                    tokens:
                      limited_use: true  # p/a.yaml:9:66
                    # editable: false  # default
                    # success_status: 204  # default
            apps:
              - id: "1:1:ios:a"  # p/a.yaml:11:13
                name: "a\U0000200bb"  # p/a.yaml:13:15
                apple:
                  team_id: ABCDE12345  # p/a.yaml:2:27 profile base
                  bundle_id: com.example.app  # p/a.yaml:14:28
                providers:
                  app_attest:
                    token_ttl: 1h  # default
                    # receipts: recorded  # default
                    # unreported_validation_category: allowed  # default
                    # key_in_tokens: false  # default
                rate_limit:
                  requests: 5  # p/a.yaml:15:32
                  interval: 1s500ms  # p/a.yaml:15:45
                  burst: 5  # default

        """#

    private static let client = #"""
        projects:
          - number: 1  # p/a.yaml:4:13
            id: example  # p/a.yaml:5:9
            stage: development  # p/a.yaml:6:12
            oauth_clients:
              - id: client  # p/a.yaml:18:14
                app: "1:1:ios:a"  # p/a.yaml:18:27
                providers:
                  app_attest:
                    token_ttl: 1h  # default
                    # receipts: recorded  # default
                    # unreported_validation_category: allowed  # default
                    # key_in_tokens: false  # default
                rate_limit:
                  requests: 5  # p/a.yaml:15:32
                  interval: 1s500ms  # p/a.yaml:15:45
                  burst: 5  # default

        """#

    @Test(
        "All that holds is shown, with the defaults that the section can state, and nothing else",
        arguments: [(["1:1:ios:a", "--project"], app), (["client"], client)])
    func whole(arguments: [String], output: String) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("p")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(Self.set.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let process = try AssayProcess(["policy", "show"] + arguments + ["--policies", "p"], folder: folder)
            let result = await process.result()
            #expect(result.output == output && result.errors == "")
        }
    }
}
