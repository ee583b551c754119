import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy check, and the lists")
struct PolicyCheckTests {
    @Test("The example policies are good")
    func examples() async throws {
        let result = try await AssayProcess.run("policy", "check", repository.appendingPathComponent("policies").path)
        #expect(result.status == 0)
        #expect(result.output.contains("1 app and 1 OAuth client, all good"))
    }

    @Test("A set without an app is good, but not what anybody wants")
    func noApps() async throws {
        try await withTemporaryFolder { folder in
            try Data("# nothing yet\n".utf8).write(to: folder.appendingPathComponent("a.yaml"))
            let result = try await AssayProcess.run("policy", "check", folder.path)
            #expect(result.status == 0)
            #expect(result.errors.contains("warning: no app is defined"))
            #expect(result.output.contains("good, with 1 warning"))
        }
    }

    @Test("With --strict a warning is refused, and with --replacing what running clients lose is one")
    func strict() async throws {
        try await withTemporaryFolder { folder in
            func write(_ name: String, _ providers: String) throws {
                let policies = folder.appendingPathComponent(name)
                try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
                let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {\(providers)}}]}]"
                try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            }
            try write("old", "debug: {managed: {limit: 20}}, device_check: {}")
            try write("new", "debug: {managed: {limit: 20}}")
            let alone = try await AssayProcess.run("policy", "check", "new", "--strict", folder: folder)
            #expect(alone.status == 0, "\(alone.errors)")
            let loose = try await AssayProcess.run("policy", "check", "old", "--replacing", "new", folder: folder)
            #expect(!loose.errors.contains("no provider"))
            let weak = try await AssayProcess.run("policy", "check", "new", "--replacing", "old", folder: folder)
            #expect(weak.status == 0)
            #expect(
                weak.errors.contains(
                    "warning: the app projects/1/apps/1:1:ios:a has no provider `device_check` any more"))
            let result = try await AssayProcess.run(
                "policy", "check", "new", "--replacing", "old", "--strict", folder: folder)
            #expect(result.status == 1)
            #expect(result.output == "")
            #expect(result.errors.contains("new: 1 warning, which --strict refuses"))
        }
    }

    @Test("A plugin that cannot be used is a warning, and an error where a policy names it")
    func unusablePlugin() async throws {
        try await withTemporaryFolder { folder in
            func write(_ name: String, _ text: String) throws {
                try Data(text.utf8).write(to: folder.appendingPathComponent(name))
            }
            try write("plugins.yaml", "providers: {vendor: {command: [/no/program]}}\n")
            try write("a.yaml", "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {}}}]}]\n")
            let unnamed = try await AssayProcess.run("policy", "check", folder.path)
            #expect(unnamed.status == 0)
            #expect(
                unnamed.errors.contains(
                    "plugins.yaml: warning: the provider `vendor` cannot be used, and no policy names it: /no/program: "
                ))
            try write("a.yaml", "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {vendor: {}}}]}]\n")
            let named = try await AssayProcess.run("policy", "check", folder.path)
            #expect(named.status == 1)
            #expect(named.errors.contains("a.yaml:1:"))
            #expect(!named.errors.contains("no policy names it"))
        }
    }

    @Test("What is wrong is shown at its place, in plugins' sections too, all at once")
    func wrong() async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("policies")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            let text = """
                projects:
                  - number: 1
                    id: a
                    apps:
                      - id: 1:1:ios:a
                        apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                        providers:
                          app_attest:
                            enviroments: [production]
                            token_ttl: 5m
                          debug:
                            tokens: [{name: x, sha256: 12}]
                """
            try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let loading = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(loading.status == 1)
            #expect(
                loading.errors.contains(
                    "policies/a.yaml:10:24: projects[0].apps[0].providers.app_attest.token_ttl: expected a duration"))

            let fixed = text.replacingOccurrences(of: "token_ttl: 5m", with: "token_ttl: 1h")
            try Data(fixed.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let plugins = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(plugins.status == 1)
            #expect(
                plugins.errors.contains(
                    "policies/a.yaml:9:13: projects[0].apps[0].providers.app_attest.enviroments: unknown key"))
            #expect(plugins.errors.contains("did you mean `environments`?"))
            #expect(
                plugins.errors.contains("policies/a.yaml:12:40: projects[0].apps[0].providers.debug.tokens[0].sha256"))
        }
    }

    @Test("The lists of methods and reasons hold what is registered")
    func lists() async throws {
        let methods = try await AssayProcess.run("methods")
        #expect(methods.status == 0)
        #expect(methods.lines.contains("  POST /v1beta/{resource=oauthClients/*}:exchangeAppAttestAttestation"))
        #expect(methods.lines.contains("  GET /v1/jwks"))
        let reasons = try await AssayProcess.run("reasons")
        #expect(reasons.status == 0)
        let codes = reasons.lines.compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(codes).count == codes.count)
        #expect(
            codes.contains("nonce_mismatch") && codes.contains("debug_token_unknown") && codes.contains("token_expired")
        )
    }
}
