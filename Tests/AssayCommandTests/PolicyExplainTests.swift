import AssayCore
import AssayTestSupport
import Foundation
import Testing

@Suite("assay policy explain")
struct PolicyExplainTests {
    private static let set = """
        callers:
          minter: {sha256: "\(String(repeating: "0f", count: 32))", permissions: [tokens.mint], projects: [example]}
          admin: {sha256: "\(String(repeating: "1f", count: 32))", permissions: [admin]}
        projects:
          - number: 1
            id: example
            services: {orders.example.com: {enforcement: ENFORCED}}
            consumers: {oauth_client: {authorization_servers: ["https://login.example.com"], clients: {"1:1:ios:a": c}, tokens: {providers: [app_attest], max_age: 10m}, introspection: {}}}
            apps:
              - id: "1:1:ios:a"
                apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                token_ttl: 2h
                rate_limit: {requests: 60, interval: 30s}
                providers: {app_attest: {}, debug: {managed: {}}}
                rules:
                  - {name: old-ios, when: {os_version: {below: "26.2"}, environment: [production, development]}, then: refuse}
                  - {name: tried, then: mark, claim: true, enforcement: shadow}
          - {number: 2, id: other, apps: [{id: "1:2:ios:b", providers: {app_attest: {}}, apple: {team_id: ABCDE12345, bundle_id: com.example.b}}]}
        """
    private static let app = "projects/example/apps/1:1:ios:a"

    private func explain(_ arguments: [String], in text: String = set) async throws -> AssayProcess.Result {
        try await withTemporaryFolder { folder in
            let policies = folder.appendingPathComponent("p")
            try FileManager.default.createDirectory(at: policies, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: policies.appendingPathComponent("a.yaml"))
            let process = try AssayProcess(["policy", "explain", "--policies", "p"] + arguments, folder: folder)
            return await process.result()
        }
    }

    private static let exchange = [
        "  method exchangeAppAttestAssertion: the provider app_attest exchanges evidence for a token",
        "+ no permission is needed",
        "+ projects/example/apps/1:1:ios:a is an app (p/a.yaml:10:9)",
        "+ the app has the provider app_attest (p/a.yaml:14:21)",
        "? at most 60 calls in 30s, 60 at once: RESOURCE_EXHAUSTED beyond (p/a.yaml:13:21)",
        "? the provider verifies the evidence (p/a.yaml:14:21)",
        "? the deny list is asked before any rule, and refuses evidence as evidence_denied; entries that administrators added to the server are not in the policy files",
        "? rule old-ios: refuse when os_version is below 26.2 and environment is one of production, development (p/a.yaml:16:13)",
        "  rule tried: mark always; tokens name the rule; in shadow (p/a.yaml:17:13)",
        "  evidence that no rule matches is accepted",
        "  tokens live 2h, limited-use tokens 5m (p/a.yaml:12:20)",
        "  consumer oauth_client accepts them, at most 10m old (p/a.yaml:8:121)",
        "  service orders.example.com (ENFORCED) accepts them (p/a.yaml:7:16)",
    ]

    @Test("An exchange is followed to the uses of its token, by the method's name or by the request")
    func exchange() async throws {
        let named = try await explain(["--method", "exchangeAppAttestAssertion", "--resource", Self.app])
        #expect(named.lines == Self.exchange)
        #expect(named.status == 0 && named.errors == "")
        let routed = try await explain(["--route", "POST /v1beta/\(Self.app):exchangeAppAttestAssertion"])
        #expect(routed.output == named.output)
        let json = try await explain([
            "--method", "exchangeAppAttestAssertion", "--resource", Self.app, "--format", "json",
        ])
        #expect(json.lines.count == Self.exchange.count)
        #expect(
            json.lines[1]
                == #"{"effect":"passes","text":"no permission is needed","file":null,"line":null,"column":null}"#)
        #expect(
            json.lines[2]
                == #"{"effect":"passes","text":"projects/example/apps/1:1:ios:a is an app","file":"p/a.yaml","line":10,"column":9}"#
        )
    }

    /// A call, and the last line of what is said of it.
    struct Example: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let last: String
        let status: Int32

        var testDescription: String { arguments.joined(separator: " ") }

        init(_ method: String, _ resource: String, caller: String? = nil, _ last: String, _ status: Int32) {
            arguments = ["--method", method, "--resource", resource] + (caller.map { ["--caller", $0] } ?? [])
            (self.last, self.status) = (last, status)
        }
    }

    private static let examples = [
        Example(
            "exchangeDebugTokn", app, "- unknown method `exchangeDebugTokn`; did you mean `exchangeDebugToken`?", 1),
        Example(
            "exchangeDebugToken", "projects/2/apps/1:2:ios:b",
            "- the app has not the provider debug: FAILED_PRECONDITION; it has app_attest (p/a.yaml:18:64)", 1),
        Example(
            "exchangeDebugToken", "projects/2", "- the method is for an OAuth client or an app: INVALID_ARGUMENT", 1),
        Example(
            "exchangeDebugToken", "projects/example/apps/1:1:ios:b",
            "- unknown app `1:1:ios:b` in the project example: NOT_FOUND; did you mean `1:1:ios:a`?", 1),
        Example(
            "exchangeDebugToken", "projects/example/apps/1:2:ios:b",
            "- unknown app `1:2:ios:b` in the project example: NOT_FOUND; it is in the project other", 1),
        Example(
            "exchangeDebugToken", "projects/exmaple/apps/1:1:ios:a",
            "- unknown project `exmaple`: NOT_FOUND; did you mean `example`?", 1),
        Example(
            "exchangeDebugToken", "projects/7",
            "- unknown project `7`: NOT_FOUND; known here: `1`, `2`, `example`, `other`", 1),
        Example(
            "exchangeDebugToken", "oauthClients/none", "- unknown OAuth client `none`: NOT_FOUND", 1),
        Example(
            "mintAppCheckToken", "projects/exmaple/apps/1:1:ios:a", caller: "minter",
            "- unknown project `exmaple`: PERMISSION_DENIED, because the caller minter may act in example only; "
                + "did you mean `example`? (p/a.yaml:2:3)",
            1),
        Example(
            "mintAppCheckToken", "projects/example/apps/1:1:ios:c", caller: "admin",
            "- unknown app `1:1:ios:c` in the project example: NOT_FOUND; did you mean `1:1:ios:a`?", 1),
        Example(
            "exchangeToken", "projects/exmaple",
            "- unknown project `exmaple`: refused consumer_unknown; did you mean `example`?", 1),
        Example(
            "exchangeDebugToken", "apps",
            "- the resource must be projects/*/apps/*, oauthClients/* or projects/*: INVALID_ARGUMENT", 1),
        Example(
            "exchangeDebugToken", app,
            "  service orders.example.com (ENFORCED) does not accept them: token_for_development (p/a.yaml:7:16)", 0),
        Example(
            "mintAppCheckToken", app, caller: "minter", "+ projects/example/apps/1:1:ios:a is an app (p/a.yaml:10:9)", 0
        ),
        Example(
            "mintAppCheckToken", "projects/2/apps/1:2:ios:b", caller: "minter",
            "- the caller minter may not act in the project other: PERMISSION_DENIED (p/a.yaml:2:3)", 1),
        Example(
            "mintAppCheckToken", app, caller: "minte",
            "- unknown caller `minte`: UNAUTHENTICATED; did you mean `minter`?", 1),
        Example(
            "verifyAppCheckToken", "projects/1", caller: "minter",
            "  the caller admin has it, in all projects (p/a.yaml:3:3)", 1),
        Example(
            "verifyAppCheckToken", "projects/1", caller: "admin",
            "  tokens of 1:1:ios:a by debug: refused token_for_development (p/a.yaml:14:37)", 0),
        Example("jwks", "projects/1", "+ it is served to everyone", 0),
        Example(
            "exchangeToken", "projects/1",
            "  tokens of 1:1:ios:a by debug: refused token_for_development (p/a.yaml:14:37)", 0),
        Example(
            "exchangeToken", "projects/2",
            "- the project has not the consumer fleet_engine or oauth_client: refused consumer_unknown (p/a.yaml:18:5)",
            1),
    ]

    @Test("What stops a call is said with its place", arguments: examples)
    func stops(_ example: Example) async throws {
        let result = try await explain(example.arguments)
        #expect(result.lines.last == example.last)
        #expect(result.status == example.status)
        #expect(result.lines.contains { $0.hasPrefix("- ") } == (example.status == 1))
    }

    private static let deny = """
        deny:
          - {key_id: \(String(repeating: "ab", count: 16)), note: stolen}
          - {os_version: {below: "18"}, environment: production, app: "1:1:ios:a", until: 2099-01-01T00:00:00Z}
          - {key_id: \(String(repeating: "cd", count: 16)), until: 2001-01-01T00:00:00Z}
          - {debug_token: lost}
          - {provider: debug, note: none of them}
          - {os_version: {below: "19"}, app: "1:2:ios:b"}
          - {jti: abc}

        """

    @Test("Entries of the deny list that can be about the call are listed with their places, and no others")
    func denials() async throws {
        let text = Self.deny + Self.set
        let exchange = try await explain(
            ["--method", "exchangeAppAttestAssertion", "--resource", Self.app], in: text)
        let index = try #require(exchange.lines.firstIndex { $0.hasPrefix("? the deny list is asked") })
        let listed = [
            "? deny evidence whose key_id is \(String(repeating: "ab", count: 16)): stolen (p/a.yaml:2:5)",
            "? deny evidence whose os_version is below 18 and environment is production, until 2099-01-01T00:00:00Z (p/a.yaml:3:5)",
        ]
        #expect(Array(exchange.lines[(index + 1)...(index + 2)]) == listed)
        #expect(exchange.lines[index + 3].hasPrefix("? rule old-ios"))
        #expect(exchange.lines.filter { $0.hasPrefix("? deny ") } == listed)

        let debug = try await explain(["--method", "exchangeDebugToken", "--resource", Self.app], in: text)
        #expect(
            debug.lines.filter { $0.hasPrefix("? deny ") } == [
                "? deny evidence whose debug_token is lost (p/a.yaml:5:5)",
                "? deny evidence whose provider is debug: none of them (p/a.yaml:6:5)",
            ])

        let tokens = try await explain(
            ["--method", "verifyAppCheckToken", "--resource", "projects/1", "--caller", "admin"], in: text)
        #expect(
            tokens.lines.filter { $0.hasPrefix("? deny ") } == [
                listed[0], "? deny the token whose jti is abc (p/a.yaml:8:5)",
            ])
    }

    @Test("What a consumer with secrets needs besides a valid token is said to be unknown")
    func withheld() async throws {
        let issuer = "private_token: {issuer: issuer.example.com, keys: [{private_key: \"env:NONE\"}]}"
        let text = Self.set.replacing("consumers: {", with: "consumers: {\(issuer), ", maxReplacements: 1)
        try #require(text != Self.set)
        let result = try await explain(["--method", "issuePrivateTokens", "--resource", "projects/example"], in: text)
        let line = try #require(result.lines.first { $0.hasPrefix("? a valid App Check token is needed") })
        #expect(line.contains("; what else the consumer needs is not known: its secrets are not read here"))
    }

    @Test("Of many entries the first are listed, and the others counted")
    func manyDenials() async throws {
        let entries = (0..<21).map { "{jti: t\($0)}" }.joined(separator: ", ")
        let result = try await explain(
            ["--method", "verifyAppCheckToken", "--resource", "projects/1", "--caller", "admin"],
            in: "deny: [\(entries)]\n" + Self.set)
        #expect(result.lines.count { $0.hasPrefix("? deny ") } == 20)
        #expect(result.lines.contains("  and 1 further entry of the deny list"))
    }

    @Test("Without a caller, those that may call are listed; with one that may not, too")
    func callers() async throws {
        let result = try await explain(["--method", "mintAppCheckToken", "--resource", Self.app])
        #expect(
            result.lines.dropFirst() == [
                "? the permission tokens.mint is needed: name one of these callers with --caller",
                "  the caller admin has it, in all projects (p/a.yaml:3:3)",
                "  the caller minter has it, in example (p/a.yaml:2:3)",
                "+ projects/example/apps/1:1:ios:a is an app (p/a.yaml:10:9)",
            ])
        let lacks = try await explain([
            "--method", "verifyAppCheckToken", "--resource", "projects/1", "--caller", "minter",
        ])
        #expect(
            lacks.lines.contains(
                "- the caller minter lacks the permission appCheckTokens.verify: PERMISSION_DENIED (p/a.yaml:2:3)"))
    }

    @Test(
        "A request that leads to no method is refused, and a wrong command line cannot run",
        arguments: [
            (["--route", "GET /v1/nothing"], 1, "'GET /v1/nothing' leads to no method: 404"),
            (["--route", "GET /v1/\(app):exchangeDebugToken"], 1, "is known only for POST"),
            (["--route", "GET /livez"], 1, "is a page of the server itself, and no method"),
            (["--route", "nonsense"], 1, "is no request: write an HTTP method and a path"),
            (["--method", "jwks"], 2, "Name the resource with --resource."),
            (
                ["--method", "jwks", "--route", "GET /v1/jwks"], 2,
                "Name the method with --method, or the request with --route or --request."
            ),
        ] as [([String], Int32, String)])
    func routes(arguments: [String], status: Int32, text: String) async throws {
        let result = try await explain(arguments)
        #expect(result.status == status && result.output == "")
        #expect(result.errors.contains(text))
    }

    @Test("Policies with errors are not explained")
    func wrong() async throws {
        let result = try await explain(["--method", "jwks", "--resource", "x"], in: "projects: 1")
        #expect(
            result.status == 2 && result.output == ""
                && result.errors.contains("p/a.yaml:1:11: projects: expected a sequence"))
    }
}
