import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Foundation
import Testing

@Suite("assay serve --production")
struct ProductionTests {
    private static let app = "1:1234567890:ios:321abc456def7890"

    private static func policy(_ providers: String, name: String = "a") -> String {
        """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: \(app)
                name: \(name)
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                providers:
                  app_attest: {}
        \(providers)
        """
    }

    private static let debug = "          debug: {managed: {}}\n"

    private func write(_ text: String, in folder: URL) throws {
        let policies = folder.appendingPathComponent("policies")
        try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
    }

    @Test("It does not start with a provider for development, and says where, as `policy check --production` does")
    func start() async throws {
        try await withTemporaryFolder { folder in
            try write(Self.policy(Self.debug), in: folder)
            let start = try await AssayProcess.run("serve", "--production", "--listen", "127.0.0.1:0", folder: folder)
            #expect(start.status != 0)
            #expect(start.output.isEmpty)
            let check = try await AssayProcess.run("policy", "check", "--production", folder: folder)
            #expect(check.status == 1)
            for errors in [start.errors, check.errors] {
                #expect(errors.contains("policies/a.yaml:10:11"), "\(errors)")
                #expect(errors.contains("projects[0].apps[0].providers.debug"))
                #expect(errors.contains("`debug` is for development"))
            }
            #expect(try await AssayProcess.run("policy", "check", folder: folder).status == 0)
        }
    }

    @Test("A reload that brings one is refused, and the server continues with what it had until the file is mended")
    func reload() async throws {
        try await withTemporaryFolder { folder in
            try write(Self.policy(""), in: folder)
            let server = try await AssayServer(in: folder, arguments: ["--production", "--watch", "never"])
            let body: JSON = ["debug_token": .string(AssayServer.debugToken)]
            let before = try await server.post("exchangeDebugToken", body)
            #expect(before.status == 400)
            #expect(before.body["error"]?["status"] == "FAILED_PRECONDITION")

            try write(Self.policy(Self.debug), in: folder)
            try await reload(server, until: "degraded")
            let reason = try #require(try await server.get("/readyz").body["reason"]?.string)
            #expect(reason.contains("policies/a.yaml:10:11"), "\(reason)")
            #expect(server.process.errorsSoFar.contains("place=policies/a.yaml:10:11"))
            #expect(try await server.post("exchangeDebugToken", body).body["error"]?["status"] == "FAILED_PRECONDITION")
            #expect(try await server.post("generateAppAttestChallenge").status == 200)

            try write(Self.policy("", name: "mended"), in: folder)
            try await reload(server, until: "ok")
            #expect(await server.end(SIGTERM).status == 0)
        }
    }

    private func reload(_ server: AssayServer, until status: String) async throws {
        kill(server.process.process.processIdentifier, SIGHUP)
        let start = ContinuousClock.now
        while try await server.get("/readyz").body["status"]?.string != status {
            try #require(ContinuousClock.now - start < .seconds(120), "it does not become \(status)")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test("It starts with the example policies only without the flag")
    func examples() async throws {
        let policies = repository.appendingPathComponent("policies").path
        let result = try await AssayProcess.run("policy", "check", "--production", policies)
        #expect(result.status == 1)
        #expect(result.errors.contains("example.yaml:"))
        #expect(result.errors.contains("providers.debug"))
    }

    /// A policy of everything that is for development in the plugins that come with Assay: a line, and its key.
    private static func developed(_ key: String) -> (text: String, places: [(line: Int, key: String)]) {
        let text = """
            callers:
              ci: {jwt: {issuer: https://login.example.com/, audiences: [a], jwks: "http://localhost:1/jwks", subjects: [s]}, permissions: [admin]}
            projects:
              - number: 1234567890
                id: example-project
                verification: {accept_development: true}
                services: {a.example.com: {accept_development: true}}
                apps:
                  - id: \(app)
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest:
                        environments: [development, production]
                        validation_categories: [app_store, development]
                        trust_anchor: "\(anchor)"
                        receipt_trust_anchor: "\(anchor)"
                        risk_metric:
                          key_id: ABC123DEFG
                          private_key: file:\(key)
                          base_url: "https://[::ffff:127.0.0.1]:8443"
                          development_base_url: https://127.1
                      device_check:
                        key_id: ABC123DEFG
                        private_key: file:\(key)
                        environment: development
                        base_url: "http://localhost:9"
                consumers:
                  custom_backend:
                    tokens: {accept_development: true}
                    backends: {orders: {tokens: {accept_development: true}}}
                  oauth_client:
                    authorization_servers: [https://login.example.com]
                    clients: {"\(app)": example}
                    client_assertion: {accept_development: true}
                    introspection: {accept_development: true}
            """
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let keys = [
            ("jwks:", "callers.ci.jwt.jwks"), ("verification:", "verification.accept_development"),
            ("services:", "accept_development"), ("environments:", "environments[0]"),
            ("validation_categories:", "validation_categories[1]"), ("  trust_anchor:", "app_attest.trust_anchor"),
            ("receipt_trust_anchor:", "receipt_trust_anchor"), ("  base_url: \"https", "risk_metric.base_url"),
            ("development_base_url:", "risk_metric.development_base_url"),
            ("environment: d", "device_check.environment"),
            ("base_url: \"http:", "device_check.base_url"),
            ("        tokens: {acc", "custom_backend.tokens.accept_development"),
            ("backends:", "backends.orders.tokens.accept_development"),
            ("client_assertion:", "oauth_client.client_assertion.accept_development"),
            ("introspection:", "oauth_client.introspection.accept_development"),
        ]
        return (
            text,
            keys.compactMap { key in
                lines.firstIndex { $0.contains(key.0) }.map { ($0 + 1, key.1) }
            }
        )
    }

    private static let anchor =
        (try? SimulatedAppleCA(at: HostClock.system.now).rootCertificatePEM.replacing("\n", with: "\\n")) ?? ""

    @Test(
        "It refuses everything that is for development, each at its line and with what to do; without the flag all is taken"
    )
    func developmentSettings() async throws {
        try await withTemporaryFolder { folder in
            let key = folder.appendingPathComponent("AuthKey.p8")
            try Data(SimulatedAppleTeam(teamID: "ABCDE12345", keyID: "ABC123DEFG").privateKeyPEM.utf8).write(to: key)
            #expect(chmod(key.path, 0o600) == 0)
            let (text, places) = Self.developed(key.path)
            #expect(places.count == 15)
            try write(text, in: folder)
            let plain = try await AssayProcess.run("policy", "check", folder: folder)
            #expect(plain.status == 0, "\(plain.errors)")
            let check = try await AssayProcess.run("policy", "check", "--production", folder: folder)
            #expect(check.status == 1)
            let start = try await AssayProcess.run("serve", "--production", "--listen", "127.0.0.1:0", folder: folder)
            #expect(start.status == 2)
            for errors in [check.errors, start.errors] {
                let problems = errors.split(separator: "\n").filter {
                    $0.contains("for development, and this server is")
                }
                #expect(problems.count == places.count, "\(errors)")
                for (line, key) in places {
                    #expect(
                        problems.contains { $0.contains("policies/a.yaml:\(line):") && $0.contains("\(key): ") },
                        "\(key), line \(line): \(errors)")
                }
            }
        }
    }
}
