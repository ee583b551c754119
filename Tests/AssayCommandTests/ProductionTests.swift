import AssayKit
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

    @Test("A reload that brings one is refused, and the server goes on with what it had until the file is mended")
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
}
