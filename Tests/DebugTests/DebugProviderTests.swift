import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

@Suite("The debug provider")
struct DebugProviderTests {
    private static let expired = "0A4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C11"
    private static let listed = """
        {debug: {token_ttl: 1h, tokens: [{name: local, sha256: \(DebugServer.debugHash)}, \
        {name: old, sha256: \(Hex.encode(DebugToken.hash(of: expired))), expires: 2026-11-21T12:00:00Z}]}}
        """

    @Test(
        "A listed token is exchanged, in either case of its letters, for a token that says provider: debug",
        arguments: [DebugServer.debugToken, DebugServer.debugToken.lowercased()])
    func listed(_ text: String) async throws {
        let service = try DebugServer(providers: Self.listed)
        let reply = try await service.call(
            "exchangeDebugToken", DebugServer.app, ["debug_token": .string(text)], as: nil
        )
        .result.get()
        #expect(reply["ttl"] == "3600s")
        let claims = try JSON.claims(of: try #require(reply["token"]?.string))
        #expect(claims["provider"] == "debug")
    }

    @Test(
        "Only the case of ASCII letters is passed over: no letter of another script stands for one of a token",
        arguments: [
            ("KEY-KEY-KEY-KEY-1", "key-key-key-key-1", true), ("\u{212A}EY-1", "key-1", false), ("É", "é", false),
        ])
    func letterCase(_ left: String, _ right: String, _ isSame: Bool) {
        #expect((DebugToken.hash(of: left) == DebugToken.hash(of: right)) == isSame)
    }

    @Test("A token that is not listed, or has expired, is refused")
    func refused() async throws {
        let service = try DebugServer(providers: Self.listed)
        func reason(_ text: String) async -> String? {
            await service.call("exchangeDebugToken", DebugServer.app, ["debugToken": .string(text)], as: nil).reason
        }
        #expect(await reason("6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C11") == "debug_token_unknown")
        #expect(await reason(Hex.encode(DebugToken.hash(of: DebugServer.debugToken))) == "debug_token_unknown")
        // It expires at the very time that the clock shows.
        #expect(await reason(Self.expired) == "debug_token_expired")
        service.clock.advance(by: .milliseconds(-1))
        #expect(await reason(Self.expired) == nil)
    }

    @Test("A token is read from where the policy says, and may be missing when it is optional")
    func references() async throws {
        let text = """
            projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {tokens: [
              {name: local, token: 'env:A_DEBUG_TOKEN', optional: true}]}}}]}]
            """
        func reason(_ secret: String?) async throws -> String? {
            let host = PluginHost(
                store: MemoryStore(clock: .system),
                secrets: SecretSource { (reference) in
                    reference == SecretReference(.environment("A_DEBUG_TOKEN")) ? secret.map { Array($0.utf8) } : nil
                },
                logger: DebugServer.silent)
            let engine = try Engine(
                registry: Registry([.provider(DebugProvider.self)]),
                policies: .load([PolicyFile(name: "a.yaml", text: text)]), keys: .pooled(), host: host)
            let call = Call(
                "exchangeDebugToken", resource: "projects/a/apps/1:1:ios:a",
                body: ["debugToken": .string(DebugServer.debugToken)])
            return await engine.handle(call).reason
        }
        #expect(try await reason(DebugServer.debugToken) == nil)
        #expect(try await reason(nil) == "debug_token_unknown")
        let error = try await #require(throws: Diagnostics.self) { try await reason("short") }
        #expect(error.description.contains("16 characters"))
        #expect(!error.description.contains("short"))
    }

    @Test("No more tokens may be registered than one value of the state store holds", arguments: [-1, 0, 501])
    func wrongLimit(_ limit: Int) throws {
        let section = "{managed: {limit: \(limit)}}"
        let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: \(section)}}]}]"
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        let host = PluginHost(store: MemoryStore(clock: .system), logger: DebugServer.silent)
        let error = try #require(throws: Diagnostics.self) {
            try policies.check(Registry([.provider(DebugProvider.self)]), host: host)
        }
        #expect(error.all.map(\.path) == ["projects[0].apps[0].providers.debug.managed.limit"])
        #expect(error.all.allSatisfy { $0.message.contains("1 to 500") && $0.location != nil })
    }

    struct Case: Sendable {
        let tokens: String
        let path: String
        let message: String
    }

    @Test(
        "A wrong section is refused at its place",
        arguments: [
            Case(tokens: "[{name: a}]", path: "tokens[0]", message: "either `sha256` or `token`"),
            Case(tokens: "[{name: a, sha256: abc}]", path: "tokens[0].sha256", message: "64 hexadecimal digits"),
            Case(tokens: "[{name: '', token: 'env:X'}]", path: "tokens[0].name", message: "1 to 100 bytes"),
            Case(tokens: "[{name: a, token: 6B4E1D0C-8F3A}]", path: "tokens[0].token", message: "env:NAME"),
            Case(tokens: "[{name: a, token: 'env:NOT_SET_ANYWHERE'}]", path: "tokens[0].token", message: "is not set"),
            Case(tokens: "[{name: a, token: 'file:/proc/no/file'}]", path: "tokens[0].token", message: "cannot open"),
            Case(tokens: "[{name: a, tokn: x}]", path: "tokens[0].tokn", message: "unknown key"),
            Case(tokens: "[{sha256: a}]", path: "tokens[0].name", message: "missing"),
            Case(
                tokens: "[{name: a, sha256: \(String(repeating: "0", count: 64)), expires: tomorrow}]",
                path: "tokens[0].expires", message: "RFC 3339"),
            Case(
                tokens: """
                    [{name: a, sha256: \(String(repeating: "0", count: 64))}, \
                    {name: b, sha256: \(String(repeating: "0", count: 64))}]
                    """, path: "tokens[1]", message: "repeated here"),
            Case(
                tokens: """
                    [{name: a, sha256: \(String(repeating: "0", count: 64))}, \
                    {name: a, sha256: \(String(repeating: "1", count: 64))}]
                    """, path: "tokens[1].name", message: "named `a`"),
        ])
    func wrongSections(_ wrong: Case) throws {
        let text =
            "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {tokens: \(wrong.tokens)}}}]}]"
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        let host = PluginHost(store: MemoryStore(clock: .system), logger: DebugServer.silent)
        let error = try #require(throws: Diagnostics.self) {
            try policies.check(Registry([.provider(DebugProvider.self)]), host: host)
        }
        let paths = error.all.map(\.path)
        #expect(paths.contains("projects[0].apps[0].providers.debug.\(wrong.path)"), "\(error)")
        #expect(error.all.contains { $0.message.contains(wrong.message) }, "\(error)")
        #expect(error.all.allSatisfy { $0.location != nil })
    }
}
