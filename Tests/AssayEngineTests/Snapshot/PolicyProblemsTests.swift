import AssayAppAttest
import AssayCore
import AssayDebug
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

@Suite("Everything that is wrong with policies is said in one run")
struct PolicyProblemsTests {
    private static let host = PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent)

    /// `file:line:column path` of every problem.
    private static func places(_ files: [String: String]) throws -> [String] {
        try problems(files).map { "\($0.location.map { "\($0)" } ?? "-") \($0.path)" }
    }

    private static func problems(_ files: [String: String]) throws -> [Diagnostic] {
        let registry = try Registry([.provider(AppAttestProvider.self), .provider(DebugProvider.self)])
        let policies = PolicySet.read(
            files.sorted { $0.key < $1.key }.map { PolicyFile(name: $0.key, text: $0.value) })
        do throws(Diagnostics) {
            try policies.check(registry, host: host)
            return []
        } catch {
            return error.all
        }
    }

    @Test("The loader's errors, those in plugins' sections and those of plugins themselves, in the order of the files")
    func together() throws {
        let hash = String(repeating: "0", count: 64)
        let found = try Self.places([
            "a.yaml": """
            tokens: {algorithm: HS256}
            callers:
              root: {sha256: abc, permissions: admin, project: [x]}
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    token_ttl: 5m
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest:
                        enviroments: [production]
                        receipts: always
                        token_ttl: 8d
                      debug:
                        tokens:
                          - {name: a, sha256: \(hash)}
                          - {name: a, sha256: \(hash)}
                          - {name: b, token: env:NOT_SET_ANYWHERE}
                          - {nam: c}
                  - id: 1:1:ios:b
                    apple: {team_id: ABCDE12345, bundle_id: com.example.app}
                    providers:
                      app_attest:
                        environments: []
                        validation_categories: []
                        unreported_validation_category: refused
                        trust_anchor: none
                      debgu: {}
            """,
            "b.yaml": "projects: [",
            "c.yaml": "projects: [{number: 3, id: c, aps: []}]",
        ])
        #expect(
            found == [
                "a.yaml:1:21 tokens.algorithm", "a.yaml:3:18 callers.root.sha256",
                "a.yaml:3:36 callers.root.permissions",
                "a.yaml:3:43 callers.root.project", "a.yaml:9:20 projects[0].apps[0].token_ttl",
                "a.yaml:13:13 projects[0].apps[0].providers.app_attest.enviroments",
                "a.yaml:14:23 projects[0].apps[0].providers.app_attest.receipts",
                "a.yaml:15:24 projects[0].apps[0].providers.app_attest.token_ttl",
                "a.yaml:21:18 projects[0].apps[0].providers.debug.tokens[3].nam",
                "a.yaml:26:27 projects[0].apps[1].providers.app_attest.environments",
                "a.yaml:27:36 projects[0].apps[1].providers.app_attest.validation_categories",
                "a.yaml:30:11 projects[0].apps[1].providers.debgu",
                "b.yaml:1:12 ", "c.yaml:1:31 projects[0].aps",
            ], "\(found.joined(separator: "\n"))")
    }

    @Test("All that a provider finds in its section is said")
    func severalOfOneProvider() throws {
        let hash = String(repeating: "0", count: 64)
        let tokens = """
            [{name: a, sha256: \(hash)}, {name: a, sha256: \(hash)}, {name: b, token: env:NOT_SET_ANYWHERE}, {name: ''}]
            """
        let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {tokens: \(tokens)}}}]}]"
        let section = "projects[0].apps[0].providers.debug.tokens"
        #expect(
            try Self.problems(["a.yaml": text]).map(\.path) == [
                "\(section)[1]", "\(section)[1].name", "\(section)[2].token", "\(section)[3].name",
            ])
    }

    @Test(
        "One mistake is said once, and not again by whoever depends on it",
        arguments: [
            // An app with a wrong identity: its provider would miss it.
            (
                "apps: [{id: '1:1:ios:a', apple: {team_id: x, bundle_id: a}, providers: {app_attest: {}}}]",
                ["projects[0].apps[0].apple.team_id"]
            ),
            // A client of an app that could not be read.
            (
                "apps: [{id: oops}], oauth_clients: [{id: c, app: '1:1:ios:a'}]", ["projects[0].apps[0].id"]
            ),
            ("apps: 5, oauth_clients: [{id: c, app: '1:1:ios:a'}]", ["projects[0].apps"]),
            // A section that client and app share.
            (
                "apps: [{id: '1:1:ios:a', providers: {debug: {x: 1}}}], oauth_clients: [{id: c, app: '1:1:ios:a'}]",
                ["projects[0].apps[0].providers.debug.x"]
            ),
            // A section that is none.
            (
                "apps: [{id: '1:1:ios:a', providers: {debug: [], app_attest: 5}}]",
                ["projects[0].apps[0].providers.debug", "projects[0].apps[0].providers.app_attest"]
            ),
            // What is wrong in the section of a client that is linked to nothing is still found.
            (
                "apps: [], oauth_clients: [{id: c, app: d, providers: {debug: {x: 1}}}]",
                ["projects[0].oauth_clients[0].app", "projects[0].oauth_clients[0].providers.debug.x"]
            ),
        ])
    func noFollowUps(_ project: String, _ expected: [String]) throws {
        let problems = try Self.problems(["a.yaml": "projects: [{number: 1, id: a, \(project)}]"])
        #expect(problems.map(\.path) == expected, "\(problems)")
    }

    @Test(
        "A project that a caller names is only missed where all projects could be read",
        arguments: [
            ("projects: []", 1), ("projects: [{number: 1, id: a}]", 1), ("projects: [{number: x, id: a}]", 1),
            ("projects: 5", 1), ("projects: [5]", 1), ("projects: [", 1), ("projects: [{number: 1, id: other}]", 0),
        ])
    func callersOfUnknownProjects(_ projects: String, _ count: Int) throws {
        let callers = """
            callers: {root: {sha256: \(String(repeating: "0", count: 64)), permissions: [admin], projects: [other]}}
            """
        let found = try Self.problems(["a.yaml": callers, "b.yaml": projects])
        #expect(found.count == count, "\(found)")
        let isAboutCaller = found.contains { $0.path == "callers.root.projects[0]" }
        #expect(isAboutCaller == (projects == "projects: []" || projects == "projects: [{number: 1, id: a}]"))
    }

    @Test("The number of problems is bounded, and with it the work", .timeLimit(.minutes(20)))
    func bounded() throws {
        let apps = (0..<5000).map { "      - {id: '1:1:ios:a\($0)', providers: {debug: {tokens: [{name: \($0)}]}}}\n" }
        let text = "projects:\n  - number: 1\n    id: a\n    apps:\n\(apps.joined())"
        let registry = try Registry([.provider(DebugProvider.self)])
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.read([PolicyFile(name: "a.yaml", text: text)]).check(registry, host: Self.host)
        }
        #expect(error.all.count == 100)
        #expect((1...100).contains(error.omitted))
    }

    @Test("What is questionable is a warning, and no reason to refuse")
    func warnings() throws {
        let text = """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                  - id: 1:2:ios:b
                    providers: {debug: {}}
                  - id: 1:1:ios:c
                    providers: null
                  - id: 1:1:ios:d
                    providers: {}
                oauth_clients:
                  - {id: shares, app: '1:2:ios:b'}
                  - {id: blank, app: '1:2:ios:b', providers: {}}
            """
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        try policies.check(Registry([.provider(DebugProvider.self)]), host: Self.host)
        let warnings = try #require(policies.warnings)
        #expect(
            warnings.all.map { "\($0.location.map { "\($0)" } ?? "") \($0.message)" } == [
                "a.yaml:5:9 the app has no providers: every call for it will be refused",
                "a.yaml:6:13 the app ID is one of project 2, but is in project 1",
                "a.yaml:9:20 the app has no providers: every call for it will be refused",
                "a.yaml:11:20 the app has no providers: every call for it will be refused",
                "a.yaml:14:50 the OAuth client has no providers: every call for it will be refused",
            ], "\(warnings)")
        #expect(warnings.errorCount == 0)
        #expect(warnings.all.allSatisfy { $0.description.contains(": warning: ") })
        let good = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {}}}]}]"
        #expect(try PolicySet.load([PolicyFile(name: "a.yaml", text: good)]).warnings == nil)
    }

    @Test("What a plugin finds questionable is a warning at its place, said once, and no reason to refuse")
    func warningsOfPlugins() throws {
        let text = """
            projects:
              - number: 1
                id: a
                apps:
                  - id: 1:1:ios:a
                    providers:
                      debug:
                        tokens:
                          - name: old
                            sha256: \(Hex.encode(DebugToken.hash(of: TestService.debugToken)))
                            expires: 2020-01-01T00:00:00Z
                oauth_clients: [{id: c, app: '1:1:ios:a'}]
            """
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        #expect(policies.warnings == nil)
        let found = try policies.check(Registry([.provider(DebugProvider.self)]), host: Self.host)
        let warnings = try #require(found)
        #expect(warnings.all.map(\.path) == ["projects[0].apps[0].providers.debug.tokens[0].expires"])
        #expect(warnings.errorCount == 0)
        #expect(warnings.all.first?.description.hasPrefix("a.yaml:11:") == true)
        #expect(warnings.all.first?.message.contains("expired at 2020-01-01T00:00:00Z") == true)
    }

    @Test("Files that cannot be read are problems beside those in the others")
    func unreadable() throws {
        let policies = PolicyDirectory("/proc/no/such/folder").read()
        #expect(policies.problems?.all.map(\.file) == ["/proc/no/such/folder"])
        #expect(policies.apps.isEmpty)
        let registry = try Registry([.provider(DebugProvider.self)])
        #expect(throws: Diagnostics.self) { try policies.check(registry, host: Self.host) }
        #expect(throws: Diagnostics.self) {
            try Engine(registry: registry, policies: policies, keys: .ephemeral(), host: Self.host)
        }
    }
}
