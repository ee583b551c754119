import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy explain: what becomes of tokens, and whom a line is about")
struct PolicyExplainTokensTests {
    private static let set = """
        deny: [{jti: x, app: "1:2:ios:b"}, {jti: y}]
        callers:
          asker: {sha256: "\(String(repeating: "0f", count: 32))", permissions: [admin], projects: [other]}
          admin: {sha256: "\(String(repeating: "1f", count: 32))", permissions: [admin]}
        projects:
          - number: 1
            id: example
            consumers:
              oauth_client: {authorization_servers: ["https://login.example.com"], clients: {"1:1:ios:a": c}, tokens: {providers: [app_attest], apps: ["1:1:ios:a"], accept_development: true}, attester: {ttl: 1h}, introspection: {}}
              custom_backend: {tokens: {limited_use: true, max_age: 5m, replay_protection: ENFORCED}, backends: {orders: {}}}
            apps:
              - id: "1:1:ios:a"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                rate_limit: {requests: 1}
                providers: {app_attest: {}, debug: {managed: {}}}
                rules: [{name: old, when: {os_version: {below: "26.2"}}, then: refuse}]
              - {id: "1:1:ios:c", apple: {team_id: ABCDE12345, bundle_id: com.example.c}, providers: {app_attest: {}}}
          - number: 2
            id: other
            apps: [{id: "1:2:ios:b", apple: {team_id: ABCDE12345, bundle_id: com.example.b}, providers: {app_attest: {}}}]
        """

    /// A call, some lines that are said of it, and the beginnings of lines that are not.
    struct Example: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let lines: [String]
        let others: [String]

        var testDescription: String { arguments.joined(separator: " ") }

        init(
            _ method: String, _ resource: String = "projects/1", by caller: String? = nil, says lines: [String],
            not others: [String] = []
        ) {
            arguments = ["--method", method, "--resource", resource] + (caller.map { ["--caller", $0] } ?? [])
            (self.lines, self.others) = (lines, others)
        }
    }

    private static let app = "projects/1/apps/1:1:ios:a"
    private static let examples = [
        Example(
            "verifyAppCheckToken", by: "admin", says: ["? deny the token whose jti is y (p/a.yaml:1:36)"],
            not: ["? deny the token whose jti is x"]),
        Example(
            "attestClient",
            says: [
                "  tokens of 1:1:ios:a by app_attest: accepted (p/a.yaml:15:21)",
                "  tokens of 1:1:ios:a by debug: refused token_provider_not_allowed (p/a.yaml:15:37)",
                "  tokens of 1:1:ios:c by app_attest: refused token_app_not_allowed (p/a.yaml:17:95)",
            ], not: ["  parts of the section", "  tokens of 1:2"]),
        Example(
            "verifyRequest",
            says: [
                "? consumer custom_backend, orders: a valid App Check token is needed, for limited use, at most 5m old, not used before (p/a.yaml:10:114)",
                "  tokens of 1:1:ios:a by debug: refused token_for_development (p/a.yaml:15:37)",
            ]),
        Example(
            "introspectProjectToken", by: "asker",
            says: ["- the caller asker may not act in the project example: PERMISSION_DENIED (p/a.yaml:3:3)"],
            not: ["+ the project example has"]),
        // Only calls without a permission have a rate limit.
        Example(
            "createDebugToken", app, by: "admin", says: ["+ the app has the provider debug (p/a.yaml:15:37)"],
            not: ["? at most", "  calls are not limited"]),
        Example(
            "exchangeDebugToken", app,
            says: [
                "? at most 1 call in 1m, 1 at once: RESOURCE_EXHAUSTED beyond (p/a.yaml:14:21)",
                "? rule old: refuse when os_version is below 26.2; debug does not tell os_version (p/a.yaml:16:17)",
                "  evidence that no rule matches is accepted",
                "  consumer oauth_client refuses them: token_provider_not_allowed (p/a.yaml:9:111)",
            ]),
        Example(
            "exchangeAppAttestAssertion", app,
            says: [
                "  consumer custom_backend, orders accepts them, for limited use, at most 5m old, not used before (p/a.yaml:10:32)"
            ]),
        Example(
            "exchangeAppAttestAssertion", "projects/2/apps/1:2:ios:b", says: ["  calls are not limited"],
            not: ["  evidence that no rule", "? deny", "  consumer"]),
        Example(
            "exchangeAppAttestAssertion", "projects/2/apps/1:1:ios:aa",
            says: ["- unknown app `1:1:ios:aa` in the project other: NOT_FOUND; did you mean `1:2:ios:b`?"]),
    ]

    @Test("Each step is about this call, and says which line decides", arguments: examples)
    func steps(_ example: Example) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("p")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(Self.set.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let process = try AssayProcess(
                ["policy", "explain", "--policies", "p"] + example.arguments, folder: folder)
            let result = await process.result()
            #expect(result.errors == "")
            for line in example.lines { #expect(result.lines.contains(line), "\(result.output)") }
            for start in example.others { #expect(!result.lines.contains { $0.hasPrefix(start) }, "\(start)") }
        }
    }

    /// Requests of a proxy's client, and what is said of them.
    private static let requests: [([String], String, Int32)] = [
        (
            ["POST /payments/1", "--backend", "orders"],
            "? consumer custom_backend, orders POST /payments/*: a valid App Check token is needed, for limited use (p/a.yaml:4:5)",
            0
        ),
        (
            ["GET /payments/1", "--backend", "orders"],
            "? consumer custom_backend, orders: a valid App Check token is needed (p/a.yaml:4:5)", 0
        ),
        (
            ["GET /open", "--backend", "orders"],
            "+ consumer custom_backend, orders /open: no token is needed (enforcement OFF) (p/a.yaml:4:5)", 0
        ),
        (
            ["GET /OPEN", "--backend", "orders"],
            "- consumer custom_backend, orders requests with an unclear path: refused backend_target_ambiguous, whatever the token is (p/a.yaml:4:5)",
            1
        ),
        (
            ["GET /any", "--backend", "stock"],
            "+ consumer custom_backend, stock: no valid token is needed: requests that do not meet the demand are let through, and counted (enforcement UNENFORCED) (p/a.yaml:4:5)",
            0
        ),
        (
            ["GET /any", "--backend", "stok"],
            "- no custom_backend has the name 'stok': refused consumer_unknown; did you mean `stock`?", 1
        ),
    ]

    private static let backends = """
        deny: [{jti: x}]
        projects:
          - number: 1
            id: example
            consumers: {custom_backend: {backends: {orders: {original_request: x-original, routes: [{path: "/payments/*", methods: [POST], tokens: {limited_use: true}}, {path: /open, tokens: {enforcement: "OFF"}}]}, stock: {tokens: {enforcement: UNENFORCED}}}}}
            apps: [{id: "1:1:ios:a", providers: {debug: {managed: {}}}}]
        """

    @Test("What a backend demands of a request is said by its route and its level", arguments: requests)
    func backend(arguments: [String], line: String, status: Int32) async throws {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("p")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(Self.backends.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let process = try AssayProcess(
                ["policy", "explain", "--policies", "p", "--request"] + arguments, folder: folder)
            let result = await process.result()
            let lines = result.lines.map { $0.replacing(/a\.yaml:\d+:\d+/, with: "a.yaml:4:5") }
            #expect(lines.contains(line), "\(result.output)\(result.errors)")
            #expect(result.status == status)
            let isEnforced = line.hasPrefix("? ")
            #expect(
                lines.contains { $0.contains("and refuses tokens as token_denied") } == isEnforced, "\(result.output)")
            #expect(lines.contains("? deny the token whose jti is x (p/a.yaml:4:5)") == isEnforced, "\(result.output)")
        }
    }
}
