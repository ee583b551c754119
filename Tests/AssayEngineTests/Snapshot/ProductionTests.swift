import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

private let developed: [(String, [String])] = [
    ("apps: [{id: '1:1:ios:a', providers: {debug: {}}}]", ["projects[0].apps[0].providers.debug"]),
    (
        "apps: [{id: '1:1:ios:a', providers: {vouch: {}, debug: {managed: {}}}}]",
        ["projects[0].apps[0].providers.debug"]
    ),
    (
        "apps: [{id: '1:1:ios:a', providers: {vouch: {}}}, {id: '1:1:ios:b', providers: {debug: {}}}]",
        ["projects[0].apps[1].providers.debug"]
    ),
    // An OAuth client that has its app's providers is not said twice.
    (
        "apps: [{id: '1:1:ios:a', providers: {debug: {}}}], oauth_clients: [{id: c, app: '1:1:ios:a'}]",
        ["projects[0].apps[0].providers.debug"]
    ),
    (
        "apps: [{id: '1:1:ios:a', providers: {debug: {}}}, {id: '1:1:ios:b', providers: {debug: {}}}]",
        ["projects[0].apps[0].providers.debug", "projects[0].apps[1].providers.debug"]
    ),
]

@Suite("A server for production")
struct ProductionTests {
    private static let registry = try? Registry([.provider(VouchProvider.self), .provider(DebugProvider.self)])

    private func policies(_ apps: String) throws -> PolicySet {
        try .load([PolicyFile(name: "p.yaml", text: "projects:\n  - {number: 1, id: a, \(apps)}")])
    }

    private func host() -> PluginHost {
        PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent)
    }

    private func engine(_ apps: String, refusesDevelopment: Bool) throws -> Engine {
        try Engine(
            registry: #require(Self.registry), policies: policies(apps), keys: .pooled(), host: host(),
            options: Engine.Options(timeLimit: .seconds(600), refusesDevelopment: refusesDevelopment))
    }

    @Test("It refuses every provider for development, at its place, and another server none", arguments: developed)
    func refused(_ apps: String, _ paths: [String]) throws {
        let error = try #require(throws: Diagnostics.self) { try engine(apps, refusesDevelopment: true) }
        #expect(error.all.map(\.path) == paths)
        #expect(error.all.allSatisfy { $0.location?.description.hasPrefix("p.yaml:2:") == true })
        #expect(error.all.allSatisfy { $0.message.contains("`debug` is for development") })
        _ = try engine(apps, refusesDevelopment: false)
        #expect(throws: Diagnostics.self) {
            try policies(apps).check(#require(Self.registry), host: host(), refusesDevelopment: true)
        }
        try policies(apps).check(#require(Self.registry), host: host())
    }

    @Test("It says what else is wrong, too")
    func together() throws {
        let apps = "apps: [{id: '1:1:ios:a', providers: {debug: {tokens: [{name: a}]}}}]"
        let error = try #require(throws: Diagnostics.self) { try engine(apps, refusesDevelopment: true) }
        #expect(error.all.count == 2, "\(error)")
    }

    @Test("Policies with one are not loaded later, and those in force stay")
    func reloaded() async throws {
        let good = "apps: [{id: '1:1:ios:a', providers: {vouch: {}}}]"
        let engine = try engine(good, refusesDevelopment: true)
        func isGood(_ app: String, _ method: String, _ body: JSON) async -> StatusCode? {
            await engine.handle(Call(method, resource: "projects/a/apps/\(app)", body: body)).status
        }
        let (debugBefore, vouchBefore) = (
            await isGood("1:1:ios:a", "exchangeDebugToken", ["debugToken": "x"]),
            await isGood("1:1:ios:a", "exchangeWord", [:])
        )
        #expect(debugBefore == .failedPrecondition)
        #expect(vouchBefore == nil)
        for (apps, _) in developed {
            #expect(throws: Diagnostics.self) { try engine.replacePolicies(policies(apps)) }
            #expect(await isGood("1:1:ios:a", "exchangeDebugToken", ["debugToken": "x"]) == debugBefore)
            #expect(await isGood("1:1:ios:a", "exchangeWord", [:]) == vouchBefore)
        }
        try engine.replacePolicies(policies(good.replacing("1:1:ios:a", with: "1:1:ios:b")))
        #expect(await isGood("1:1:ios:b", "exchangeWord", [:]) == nil)
    }

    /// A section of `sky`, and the keys at which a server for production refuses it.
    private static let declared: [(String, [String])] = [
        ("{}", []), ("{mode: real, modes: [real], root: null, nested: {}, free: https://example.com}", []),
        ("{mode: Simulated}", ["mode"]), ("{modes: [real, simulated]}", ["modes[1]"]), ("{root: x}", ["root"]),
        ("{on: true}", ["on"]), ("{on: false, helper: \"http://127.0.0.1:1\"}", []),
        ("{url: \"http://localhost:1/a\"}", ["url"]), ("{url: \"https://[::1]/\"}", ["url"]),
        // What nobody described is looked at as well, and what is in lists and mappings.
        ("{free: \"https://127.1/\"}", ["free"]),
        ("{nested: {root: x, b: {root: x}}}", ["nested.b.root", "nested.root"]),
        ("{map: {a: {root: x}, b: {}}}", ["map.a.root"]),
        ("{list: [{}, {root: x, url: \"https://0/\"}]}", ["list[1].root", "list[1].url"]),
    ]

    @Test(
        "What a plugin declares to be for development is refused at its place, and elsewhere not", arguments: declared)
    func declaredKeys(_ section: String, _ keys: [String]) throws {
        let registry = try Registry([.provider(SkyProvider.self)])
        let set = try policies(
            "apps: [{id: '1:1:ios:a', providers: {sky: \(section)}}], oauth_clients: [{id: c, app: '1:1:ios:a'}]")
        try set.check(registry, host: host())
        var found: [Diagnostic] = []
        do throws(Diagnostics) {
            try set.check(registry, host: host(), refusesDevelopment: true)
        } catch {
            found = error.all
        }
        #expect(found.map(\.path).sorted() == keys.map { "projects[0].apps[0].providers.sky.\($0)" })
        #expect(found.allSatisfy { $0.location?.description.hasPrefix("p.yaml:2:") == true && $0.hint != nil })
        #expect(found.allSatisfy { $0.message.contains("for development, and this server is for production") })
    }

    @Test(
        "Tokens of providers for development are taken nowhere",
        arguments: [
            ("verification: {accept_development: true}", "verification.accept_development"),
            ("services: {a.example.com: {accept_development: true}}", "services[\"a.example.com\"].accept_development"),
        ])
    func switches(_ section: String, _ key: String) throws {
        let registry = try #require(Self.registry)
        for value in ["true", "false"] {
            let text = section.replacing("true", with: value) + ", apps: [{id: '1:1:ios:a', providers: {vouch: {}}}]"
            let set = try policies(text)
            try set.check(registry, host: host())
            var paths: [String] = []
            do throws(Diagnostics) {
                try set.check(registry, host: host(), refusesDevelopment: true)
            } catch {
                paths = error.all.map(\.path)
            }
            #expect(paths == (value == "true" ? ["projects[0].\(key)"] : []))
        }
    }
}

/// A provider that declares what of its section is for development.
private struct SkyProvider: AttestationProvider {
    struct Configuration: DescribedConfiguration, Sendable {
        final class Box: DescribedConfiguration, Sendable {
            let root: String?
            let url: String?
            let b: Box?

            static let keys: [ExactText: PolicyKey] = ["root": PolicyKey("A root.", development: .anyValue)]
        }

        let mode: String?
        let modes: [String]?
        let root: String?
        let on: Bool?
        let url: EndpointURL?
        let helper: EndpointURL?
        let free: String?
        let nested: Box?
        let map: [ExactText: Box]?
        let list: [Box]?

        static let keys: [ExactText: PolicyKey] = [
            "mode": PolicyKey("A mode.", development: .words(["simulated"])),
            "modes": PolicyKey("Modes.", development: .words(["simulated"])),
            "root": PolicyKey("A root.", development: .anyValue),
            "on": PolicyKey("A switch.", development: .words(["true"])),
            "helper": PolicyKey("A server beside this one.", development: .none),
        ]
    }

    static let descriptor = PluginDescriptor.provider(name: "sky", summary: "The sky.", reasons: [])
    static let methods: [ProviderMethod<SkyProvider>] = [
        .exchange("exchangeSky") { (provider, request: VouchProvider.Request, context) in .verified }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}
