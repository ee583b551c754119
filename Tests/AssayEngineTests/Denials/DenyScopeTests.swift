import AssayCore
import AssayCrypto
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

/// A provider whose tags have a key and a version.
private struct TagProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let descriptor = PluginDescriptor.provider(
        name: "tag", summary: "Believes tags.", reasons: [],
        facts: [FactName("tag_key", .digest, identifiesAttester: true), FactName("version", .version)])
    static let methods: [ProviderMethod<TagProvider>] = [
        .exchange("exchangeTag") { (provider, request: Request, context) in .verified }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

/// A provider whose plates have a number and a size.
private struct PlateProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let descriptor = PluginDescriptor.provider(
        name: "plate", summary: "Believes plates.", reasons: [],
        facts: [
            FactName("plate_number", identifiesAttester: true), FactName("size", .integer),
            FactName("version", .version),
        ])
    static let methods: [ProviderMethod<PlateProvider>] = [
        .exchange("exchangePlate") { (provider, request: Request, context) in .verified }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("Entries of the deny list that can never match")
struct DenyScopeTests {
    private static let admin = "admin-token-0123456789"

    private static func registry() throws -> Registry {
        try Registry([.provider(TagProvider.self), .provider(PlateProvider.self)], administration: .api)
    }

    /// Project `one` has plates, and the app `b` tags too unless it is said otherwise; project `two` has tags.
    private static func policies(deny: String, ofB: String = "{plate: {}, tag: {}}", ofTwo: String = "{tag: {}}")
        throws -> PolicySet
    {
        let hash = Hex.encode(SHA256.hash(Array(admin.utf8)))
        return try .load([
            PolicyFile(
                name: "a.yaml",
                text: """
                    deny: [\(deny)]
                    callers: {root: {sha256: \(hash), permissions: [admin]}}
                    projects:
                      - number: 1
                        id: one
                        apps: [{id: "1:1:ios:a", providers: {plate: {}}}, {id: "1:1:ios:b", providers: \(ofB)}]
                        oauth_clients: [{id: client, app: "1:1:ios:a"}]
                      - {number: 2, id: two, apps: [{id: "1:2:ios:c", providers: \(ofTwo)}]}
                    """)
        ])
    }

    private static func host() -> PluginHost {
        PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent)
    }

    private static func words(_ problem: Diagnostic) -> String {
        let hint = problem.hint.map { " / \($0)" } ?? ""
        return "\(problem.location?.column ?? 0) \(problem.severity) \(problem.message)\(hint)"
    }

    private static func found(_ policies: PolicySet) throws -> [String] {
        do {
            return try policies.check(registry(), host: host())?.all.map(words) ?? []
        } catch let problems as Diagnostics {
            return problems.all.map(words)
        }
    }

    private static let key = String(repeating: "ab", count: 32)
    private static let ofOneProvider = "an entry is about the evidence of one provider: write an entry for each"

    @Test(
        "In the policies, an entry is checked against the providers of its app, or of any app",
        arguments: [
            ("{version: {below: \"3\"}, app: \"1:1:ios:a\"}", nil), ("{size: 3, version: \"1\"}", nil),
            ("{tag_key: KEY, app: \"1:1:ios:b\"}", nil), ("{plate_number: X, app: client}", nil),
            ("{jti: x, app: \"1:1:ios:a\"}", nil), ("{provider: tag, version: \"1\", app: \"1:1:ios:b\"}", nil),
            ("{tag_key: KEY, app: \"1:1:ios:a\", until: 2001-01-01T00:00:00Z}", "8 warning the entry ended at 2001"),
            (
                "{tag_key: KEY, app: \"1:1:ios:a\"}",
                "9 error no provider of the app `1:1:ios:a` tells the fact `tag_key` / here an attester is identified by `plate_number`"
            ),
            (
                "{size: 3, app: \"1:2:ios:c\"}",
                "9 error no provider of the app `1:2:ios:c` tells the fact `size` / known here: `tag_key`, `version`"
            ),
            (
                "{tag_key: KEY, app: client}",
                "9 error no provider of the app `client` tells the fact `tag_key` / here an attester is identified by `plate_number`"
            ),
            (
                "{provider: tag, app: \"1:1:ios:a\"}",
                "9 error no provider of the app `1:1:ios:a` is one that `provider` names / known here: `plate`"
            ),
            ("{size: 3, tag_key: KEY}", "18 error no provider tells `size` and `tag_key` together / \(ofOneProvider)"),
            (
                "{version: \"1\", size: 3, tag_key: KEY, app: \"1:1:ios:b\"}",
                "32 error no provider tells `version`, `size` and `tag_key` together / \(ofOneProvider)"
            ),
            (
                "{provider: tag, size: 3}",
                "24 error no provider tells `provider` and `size` together / \(ofOneProvider)"
            ),
            ("{sise: 3}", "9 error no provider tells the fact `sise` / did you mean `size`?"),
            ("{size: big, app: \"1:2:ios:c\"}", "9 error no provider of the app `1:2:ios:c` tells the fact `size`"),
        ])
    func files(_ entry: String, _ problem: String?) throws {
        let found = try Self.found(Self.policies(deny: entry.replacing("KEY", with: Self.key)))
        guard let problem else {
            #expect(found == [])
            return
        }
        #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
        #expect(found.count == (entry.contains("big") ? 2 : 1), "\(found)")
    }

    @Test("An entry for no certain app whose facts no app's provider tells is a warning")
    func unused() throws {
        let policies = try Self.policies(deny: "{tag_key: \(Self.key)}", ofB: "{plate: {}}", ofTwo: "{plate: {}}")
        #expect(
            try Self.found(policies) == [
                "9 warning no app of the policies has a provider that tells the fact `tag_key` "
                    + "/ here an attester is identified by `plate_number`"
            ])
        #expect(throws: Never.self) {
            try Engine(registry: Self.registry(), policies: policies, keys: .ephemeral(), host: Self.host())
        }
    }

    @Test("The value of a fact whose name resembles that of a secret is shown, also in rules; what is no fact is not")
    func excerpt() throws {
        let policies = try Self.policies(deny: "{tag_key: abab, note: x}")
        let problems = try #require(throws: Diagnostics.self) { try policies.check(Self.registry(), host: Self.host()) }
        let problem = try #require(problems.all.first)
        #expect(problem.message == "`tag_key` is a digest of 16 to 128 characters in hexadecimal or Base 64")
        #expect(problem.excerpt?.text == "deny: [{tag_key: abab, note: x}]")
        let text = """
            projects:
              - number: 1
                id: one
                apps:
                  - id: "1:1:ios:a"
                    providers: {tag: {}}
                    rules: [{name: r, when: {tag_key: abab}, then: refuse, secret: hunter2}]
            """
        let others = try #require(throws: Diagnostics.self) {
            try PolicySet.read([PolicyFile(name: "a.yaml", text: text)]).check(Self.registry(), host: Self.host())
        }
        #expect(
            others.all.compactMap { $0.excerpt?.text.trimmingPrefix(while: { $0 == " " }) }
                == Array(repeating: "rules: [{name: r, when: {tag_key: abab}, then: refuse, secret: ***", count: 2))
    }

    @Test(
        "Over the API an entry is checked against the providers of its app, or of the project's apps",
        arguments: [
            ("one", ["match": ["tag_key": .string(key)]], nil),
            ("one", ["match": ["size": 3, "version": "1"]], nil), ("two", ["match": ["version": ["below": "3"]]], nil),
            ("one", ["match": ["tag_key": .string(key)], "app": "1:1:ios:b"], nil),
            (
                "one", ["match": ["tag_key": .string(key)], "app": "1:1:ios:a"],
                "the field 'match.tag_key' is wrong: no provider of the app `1:1:ios:a` tells the fact `tag_key`; "
                    + "here an attester is identified by `plate_number`: `--fact plate_number=VALUE`"
            ),
            (
                "two", ["match": ["plate_number": "X"]],
                "the field 'match.plate_number' is wrong: no app of the project has a provider that tells the fact `plate_number`; "
                    + "here an attester is identified by `tag_key`: `--fact tag_key=VALUE`"
            ),
            (
                "two", ["match": ["size": 3]],
                "the field 'match.size' is wrong: no app of the project has a provider that tells the fact `size`; "
                    + "known here: `tag_key`, `version`"
            ),
            (
                "one", ["match": ["size": 3, "tag_key": .string(key)]],
                "the field 'match.tag_key' is wrong: no provider tells `size` and `tag_key` together; \(ofOneProvider)"
            ),
            (
                "two", ["match": ["key_id": "x"]],
                "the field 'match.key_id' is wrong: no provider tells the fact `key_id`; known facts: `plate_number`, `provider`, "
                    + "`size`, `tag_key`, `version`; here an attester is identified by `plate_number` or `tag_key`: `--fact plate_number=VALUE`"
            ),
            (
                "two", ["match": ["provider": "plate"]],
                "the field 'match.provider' is wrong: no app of the project has a provider that is one that `provider` names; "
                    + "known here: `tag`"
            ),
        ] as [(String, JSON, String?)])
    func api(_ project: String, _ entry: JSON, _ message: String?) async throws {
        let engine = try Engine(
            registry: Self.registry(), policies: Self.policies(deny: ""), keys: .ephemeral(), host: Self.host())
        let reply = await engine.handle(
            Call(
                "createDenyEntry", resource: "projects/\(project)", body: ["denyEntry": entry],
                credentials: BearerToken(Self.admin)))
        if case .failure(let failure) = reply.result {
            #expect(failure.status == .invalidArgument)
            #expect(failure.message == message)
        } else {
            #expect(message == nil)
        }
    }
}
