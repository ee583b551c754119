@testable import AssayServices
import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import Testing

@Suite("The registry of plugins")
struct RegistryTests {
    private struct Fixture<Shape: PluginShape>: AttestationProvider {
        struct Configuration: Decodable, Sendable {}
        struct Request: RequestMessage {
            init(_ fields: RequestFields) {}
        }

        static var descriptor: PluginDescriptor {
            PluginDescriptor.provider(
                name: Shape.name, contract: Shape.contract, summary: "For a test.",
                reasons: [Reason(Shape.reason, "No.")])
        }
        static var methods: [ProviderMethod<Self>] {
            [.exchange(Shape.method) { (_, _: Request, _) in .verified }]
        }

        init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {}
    }

    private enum SameName: PluginShape { static let name = "debug" }
    private enum SameMethod: PluginShape { static let method = "exchangeDebugToken" }
    private enum KernelMethod: PluginShape { static let method = "jwks" }
    private enum SameReason: PluginShape { static let reason = "debug_token_unknown" }
    private enum KernelReason: PluginShape { static let reason = "challenge_expired" }
    private enum OldContract: PluginShape { static let contract = 0 }
    private enum OddName: PluginShape { static let name = "Not A Name" }
    private enum Good: PluginShape {}

    @Test("Plugins in conflict are refused, and the message names both sides and what they share")
    func conflicts() {
        func message<S: PluginShape>(_ shape: S.Type) -> String {
            do {
                _ = try Registry([.provider(DebugProvider.self), .provider(Fixture<S>.self)])
                return "no error"
            } catch {
                return error.message
            }
        }
        for text in [message(SameName.self), message(SameMethod.self), message(SameReason.self)] {
            #expect(text.contains("DebugProvider") && text.contains("Fixture"), "\(text)")
        }
        #expect(message(SameName.self).contains("the provider name 'debug'"))
        #expect(message(SameMethod.self).contains("the method 'exchangeDebugToken'"))
        #expect(message(SameReason.self).contains("the reason 'debug_token_unknown'"))
        #expect(message(KernelMethod.self).contains("the kernel"))
        #expect(message(KernelReason.self).contains("the kernel"))
        #expect(message(OldContract.self).contains("contract 0"))
        #expect(message(OddName.self).contains("Not A Name"))
        #expect(message(Good.self) == "no error")
    }

    @Test("A method is called by the rules that its declaration implies")
    func rules() throws {
        let methods = try Registry([.provider(DebugProvider.self)]).methods.filter { method in
            if case .call = method.kind { return false }
            if case .notOffered = method.kind { return false }
            return true
        }
        #expect(methods.map(\.name) == ["jwks", "issuerMetadata", "exchangeDebugToken"])
        #expect(
            methods.flatMap(\.rules).map(\.description) == [
                "GET /v1/jwks", "GET /v1beta/jwks",
                "GET /{project}/.well-known/openid-configuration",
                "GET /.well-known/oauth-authorization-server/{project}",
                "GET /{subfolder}/{project}/.well-known/openid-configuration",
                "GET /.well-known/oauth-authorization-server/{subfolder}/{project}",
                "GET /{folder}/{subfolder}/{project}/.well-known/openid-configuration",
                "GET /.well-known/oauth-authorization-server/{folder}/{subfolder}/{project}",
                "POST /v1/{resource=projects/*/apps/*}:exchangeDebugToken",
                "POST /v1/{resource=oauthClients/*}:exchangeDebugToken",
                "POST /v1beta/{resource=projects/*/apps/*}:exchangeDebugToken",
                "POST /v1beta/{resource=oauthClients/*}:exchangeDebugToken",
            ])
    }

    @Test(
        "A state store that there is not is refused, and the known ones are named",
        arguments: ["postgres:x", "sqlite", ""])
    func stores(_ name: String) async throws {
        let registry = try Registry([])
        let error = await #expect(throws: StateStoreOpeningError.self) { _ = try await registry.openStore(name) }
        #expect(error?.message.contains("memory") == true)
    }

    @Test("A store is found by each of its schemes, and nobody else may have one of them")
    func aliases() async throws {
        let registry = try Registry([.store(CarelessStore.self)])
        for name in ["careless:x", "heedless:x"] { await (try registry.openStore(name)).close() }
        #expect(registry.storeDescriptors.map(\.scheme) == ["careless"])
        let error = #expect(throws: RegistryError.self) {
            try Registry([.store(CarelessStore.self), .store(HeedlessStore.self)])
        }
        #expect(error?.message.contains("heedless") == true)
    }

    @Test("A copy of a state is written to no path where there is something, whatever the store would do")
    func copies() async throws {
        let registry = try Registry([.store(CarelessStore.self)])
        let here = #filePath
        let error = await #expect(throws: StateStoreOpeningError.self) {
            try await registry.copyStore("careless:x", to: here, now: Instant(seconds: 0))
        }
        #expect(error?.message == "\(here) exists already: nothing was written")
        try await registry.copyStore("careless:x", to: here + ".copy", now: Instant(seconds: 0))
    }
}

/// A store that copies without looking.
private struct CarelessStore: StateStorePlugin {
    static let descriptor = StorageDescriptor(
        scheme: "careless", summary: "Copies without looking.", survival: .nothing, sharing: .process,
        aliases: ["heedless"])

    static func open(_ location: String, host: StorageHost) -> CarelessStore { CarelessStore() }

    static func copy(
        _ location: String, to path: String, adding entries: [StateKey: [UInt8]]
    ) async throws(StateStoreOpeningError) {}

    func commit(_ changes: [StateChange]) -> Int? { nil }
    func get(_ key: StateKey) -> [UInt8]? { nil }
    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) {}
    func list(_ space: String, after name: String?, limit: Int) -> [StateEntry] { [] }
    func close() {}
}

/// A store with the scheme of another one.
private struct HeedlessStore: StateStorePlugin {
    static let descriptor = StorageDescriptor(
        scheme: "heedless", summary: "Has the scheme of another one.", survival: .nothing,
        sharing: .process)

    static func open(_ location: String, host: StorageHost) -> HeedlessStore { HeedlessStore() }

    func commit(_ changes: [StateChange]) -> Int? { nil }
    func get(_ key: StateKey) -> [UInt8]? { nil }
    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) {}
    func list(_ space: String, after name: String?, limit: Int) -> [StateEntry] { [] }
    func close() {}
}

/// How a provider of a test differs from a good one.
private protocol PluginShape: Sendable {
    static var name: String { get }
    static var contract: Int { get }
    static var reason: String { get }
    static var method: String { get }
}

extension PluginShape {
    static var name: String { "fixture" }
    static var contract: Int { PluginDescriptor.currentContract }
    static var reason: String { "fixture_refused" }
    static var method: String { "exchangeFixture" }
}
