import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayYAML
import Logging
import Testing

/// A provider that needs a secret, and says in different ways that it is missing.
private struct Keyed: AttestationProvider {
    struct Configuration: Decodable, Sendable {
        let key: SecretReference
        let keys: [SecretReference]?
        let level: Int?
        /// How it reports a secret that cannot be read.
        let manner: String?
    }

    static let descriptor = PluginDescriptor.provider(name: "keyed", summary: "A test.", reasons: [])
    static let methods: [ProviderMethod<Keyed>] = []

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
        var problems = ConfigurationProblems()
        if let level = configuration.level, level > 9 { problems.report(at: ["level"], "expected at most 9") }
        do throws(SecretError) {
            guard let bytes = try host.secrets.resolve(configuration.key) else {
                throw SecretError("\(configuration.key) is not set")
            }
            if bytes.count < 4 { problems.report(at: ["key"], "the key is too short") }
        } catch {
            switch configuration.manner {
            case "own words": problems.report(at: ["key"], "holds no key")
            case "section": problems.report("no key can be used")
            case "elsewhere": problems.report(at: ["level"], "cannot be judged: \(error.message)")
            default: problems.report(at: ["key"], error.message)
            }
        }
        for (index, reference) in (configuration.keys ?? []).enumerated()
        where (try? host.secrets.resolve(reference)) == nil {
            problems.report(at: ["keys", .index(index)], "no such key")
        }
        try problems.throwIfAny()
    }
}

@Suite("Checks of policies without their secrets")
struct WithheldSecretsTests {
    /// What is wrong, and how many secrets were asked for, in a check that reads none.
    private func check(_ section: String, callers: String = "") throws -> (problems: [String], count: Int) {
        let withheld = WithheldSecrets()
        var host = PluginHost(
            store: MemoryStore(clock: .system),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        host.secrets = .withholding(withheld)
        let text = """
            callers: {\(callers)}
            projects: [{number: 1, id: example, apps: [{id: "1:1:ios:a", providers: {keyed: {\(section)}}}]}]
            """
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: text)])
        let registry = try Registry([.provider(Keyed.self)])
        do throws(Diagnostics) {
            try policies.check(registry, host: host)
            return ([], withheld.count)
        } catch {
            return (error.all.map { "\($0.path.split(separator: ".").last ?? "") \($0.message)" }, withheld.count)
        }
    }

    @Test(
        "What follows from a secret that is not read is no error; all else is",
        arguments: [
            ("key: env:A", [], 1),
            ("key: env:A, keys: [file:/absent, env:A]", [], 2),
            ("key: env:A, manner: own words", [], 1),
            ("key: env:A, manner: section", [], 1),
            ("key: env:A, manner: elsewhere", [], 1),
            ("key: env:A, level: 10", ["level expected at most 9"], 1),
            ("key: env:A, level: 10, manner: own words", ["level expected at most 9"], 1),
            ("key: env:A, level: x", ["level expected a whole number, found `x`"], 0),
            ("key: secret", ["key a policy must not contain a secret: refer to it as env:NAME or file:PATH"], 0),
            ("key: env:A, other: 1", ["other unknown key `other`"], 0),
        ] as [(String, [String], Int)])
    func sections(section: String, problems: [String], count: Int) throws {
        let found = try check(section)
        #expect(found.problems == problems)
        #expect(found.count == count)
    }

    @Test(
        "Callers are checked without their tokens and key sets",
        arguments: [
            ("a: {token: env:A, permissions: [admin]}", [], 2),
            ("a: {token: env:B, permissions: [admin]}, b: {token: env:B, permissions: [admin]}", [], 2),
            ("a: {token: env:B, optional: true, permissions: [admin]}", [], 2),
            ("a: {token: env:B, permissions: [admim]}", ["permissions[0] unknown permission `admim`"], 2),
            (
                "a: {jwt: {issuer: https://login.example.com/, audiences: [x], jwks: file:/absent, subjects: [y]}, permissions: [admin]}",
                [], 2
            ),
            (
                "a: {jwt: {issuer: https://login.example.com/, audiences: [x], jwks: file:/absent}, permissions: [admin]}",
                ["jwt without `subjects` or `claims`, every user of the issuer would be this caller"], 1
            ),
        ] as [(String, [String], Int)])
    func callers(callers: String, problems: [String], count: Int) throws {
        let found = try check("key: env:C", callers: callers)
        #expect(found.problems == problems)
        #expect(found.count == count)
    }

    @Test("With the secrets, the same errors are reported")
    func read() throws {
        var host = PluginHost(
            store: MemoryStore(clock: .system),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        host.secrets = SecretSource { $0.place == .environment("A") ? Array("abc".utf8) : nil }
        let policies = PolicySet.read([
            PolicyFile(
                name: "a.yaml",
                text: """
                    projects: [{number: 1, id: example, apps: [{id: "1:1:ios:a", providers: {keyed: {key: env:A, keys: [env:B]}}}]}]
                    """)
        ])
        let problems = #expect(throws: Diagnostics.self) {
            try policies.check(try Registry([.provider(Keyed.self)]), host: host)
        }
        #expect(problems?.all.map(\.message) == ["the key is too short", "no such key"])
    }
}
