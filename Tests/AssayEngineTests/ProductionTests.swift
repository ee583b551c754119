import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Debug
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

    private func host() -> Host {
        Host(store: MemoryStore(clock: .system), logger: TestService.silent)
    }

    private func engine(_ apps: String, refusesDevelopment: Bool) throws -> Engine {
        try Engine(
            registry: #require(Self.registry), policies: policies(apps), keys: .ephemeral(), host: host(),
            options: Engine.Options(refusesDevelopment: refusesDevelopment))
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

    @Test("Policies with one are not taken up later, and those in force stay")
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
}
