import AssayCore
import AssayPolicyTools
@testable import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayYAML
import Synchronization
import Testing

@Suite("Plugins that cannot do their work")
struct UnavailablePluginTests {
    private static let vault = Plugin.unavailable(
        .provider, name: "vault", reason: "/opt/vault: No such file or directory")
    private static let desk = Plugin.unavailable(.consumer, name: "desk", reason: "the socket is missing")
    private static let remote = Plugin.unavailable(.store, name: "remote", reason: "libremote.so.1 is missing")

    private func engine(_ plugins: [Plugin], _ policy: String) throws -> Engine {
        try Engine(
            registry: Registry(plugins), policies: .load([PolicyFile(name: "a.yaml", text: policy)]),
            keys: .ephemeral(),
            host: PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent))
    }

    private static let plain =
        "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {declared: {}}}]}]"

    @Test("The program starts without them, and shows them with their reasons")
    func starts() async throws {
        let engine = try engine([.provider(DeclaredProvider.self), Self.vault, Self.desk, Self.remote], Self.plain)
        #expect(
            engine.pluginHealth.map { "\($0.kind) \($0.name) \($0.summary)" } == [
                "provider declared ready", "provider vault unavailable: /opt/vault: No such file or directory",
                "consumer desk unavailable: the socket is missing",
                "store remote unavailable: libremote.so.1 is missing",
            ])
        #expect(await engine.readiness == .ready, "no policy in force needs them")
    }

    @Test("Policies that name one are refused with the reason at their place")
    func policies() throws {
        let text = """
            projects:
              - number: 1
                id: a
                consumers:
                  desk: {}
                apps:
                  - id: 1:1:ios:a
                    providers:
                      vault: {path: x}
            """
        let error = #expect(throws: Diagnostics.self) { _ = try engine([Self.vault, Self.desk], text) }
        let problems = error?.all.map { "\($0.location?.description ?? "") \($0.message)" }
        #expect(
            problems == [
                "a.yaml:5:7 the consumer `desk` is unavailable: the socket is missing",
                "a.yaml:9:11 the provider `vault` is unavailable: /opt/vault: No such file or directory",
            ])
        let misspelt = text.replacing("vault:", with: "valut:").replacing("desk:", with: "deks:")
        let other = #expect(throws: Diagnostics.self) { _ = try engine([Self.vault, Self.desk], misspelt) }
        #expect(other?.all.map(\.hint) == ["did you mean `desk`?", "did you mean `vault`?"])
    }

    @Test("A store that cannot be made is refused with its reason")
    func store() async throws {
        let registry = try Registry([Self.remote])
        let error = await #expect(throws: StateStoreOpeningError.self) { _ = try await registry.openStore("remote:x") }
        #expect(error?.message == "the state store 'remote' is unavailable: libremote.so.1 is missing")
    }

    @Test("Their names are taken, and must be names")
    func names() {
        let twice = #expect(throws: RegistryError.self) { try Registry([Self.vault, Self.vault]) }
        #expect(twice?.message.contains("'vault' is claimed by both the unavailable provider vault") == true)
        let odd = #expect(throws: RegistryError.self) {
            try Registry([.unavailable(.store, name: "a\u{1B}b", reason: "x")])
        }
        #expect(odd?.message.hasPrefix("the unavailable store a\u{FFFD}b: a name is") == true)
        #expect(throws: RegistryError.self) { try Registry([.unavailable(.store, name: "memory", reason: "x")]) }
    }

    @Test("Reasons from outside are one line of limited length")
    func reasons() throws {
        let registry = try Registry([
            .unavailable(.provider, name: "vault", reason: "\u{1B}[2J\n" + String(repeating: "x", count: 4096))
        ])
        let reason = try #require(registry.health.first?.reason)
        #expect(reason.hasPrefix("\u{FFFD}[2J\u{FFFD}xxx"))
        #expect(reason.unicodeScalars.count == 512)
    }

    @Test("A plugin whose own check fails makes the service degraded until it passes again")
    func failing() async throws {
        let isBroken = Mutex(true)
        let plugin = Plugin.provider(DeclaredProvider.self).checkingHealth {
            isBroken.withLock { $0 } ? "the process ended" : nil
        }
        let engine = try engine([plugin], Self.plain)
        #expect(engine.pluginHealth.map(\.summary) == ["failing: the process ended"])
        #expect(await engine.readiness == .degraded("the provider declared fails: the process ended"))
        isBroken.withLock { $0 = false }
        #expect(await engine.readiness == .ready)
    }

    @Test("A plugin's own check is its health")
    func checks() throws {
        let plugin = Plugin.provider(DeclaredProvider.self).checkingHealth { "the process\nended" }
        let registry = try Registry([plugin, Self.vault.checkingHealth { nil }])
        #expect(
            registry.health.map(\.summary) == [
                "failing: the process\u{FFFD}ended", "unavailable: /opt/vault: No such file or directory",
            ])
    }

    @Test("Who uses a plugin is known, and what keeps an instance from being made")
    func uses() throws {
        let registry = try Registry([.provider(DeclaredProvider.self), Self.vault])
        let policies = PolicySet.read([
            PolicyFile(
                name: "a.yaml",
                text: """
                    projects:
                      - number: 1
                        id: a
                        apps:
                          - id: 1:1:ios:a
                            providers: {declared: {}, vault: {}}
                          - id: 1:1:ios:b
                            providers: {declared: {odd: 1}}
                          - id: not an ID
                            providers: {declared: {}}
                    """)
        ])
        var problems: Diagnostics?
        do throws(Diagnostics) {
            try policies.check(
                registry, host: PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent))
        } catch {
            problems = error
        }
        let uses = policies.uses(problems: problems)
        #expect(uses.map(\.plugin) == ["declared", "vault", "declared", "declared"])
        #expect(
            uses.map(\.resource).prefix(3) == [
                "projects/1/apps/1:1:ios:a", "projects/1/apps/1:1:ios:a", "projects/1/apps/1:1:ios:b",
            ])
        #expect(uses[0].problem == nil)
        #expect(uses[1].problem?.message.contains("unavailable") == true)
        #expect(uses[2].problem?.path == "projects[0].apps[1].providers.declared.odd")
        #expect(uses[3].problem?.path == "projects[0].apps[2].id", "an error of the app itself")
        #expect(uses.map { "\($0.location)" }.first == "a.yaml:6:21")
    }
}
