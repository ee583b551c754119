import AssayCore
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import AssayVerifier
import Testing

@Suite("mintAppCheckToken")
struct MintAppCheckTokenTests {
    private let service: AdminService

    init() throws {
        service = try AdminService()
    }

    private func mint(
        _ body: JSON, _ app: String = AdminService.app, as caller: String? = AdminService.minter
    ) async -> Reply {
        await service.call("mintAppCheckToken", app, body, as: caller)
    }

    @Test(
        "A caller that may gets a token of the life that it asks for",
        arguments: [
            ([:], 3600), (["tokenTtl": "1800s"], 1800), (["tokenTtl": "1800.5s"], 1800),
            (["token_ttl": "604800s"], 604_800),
            (["limitedUseConfig": [:]], 300), (["limited_use_config": ["jti": "order-0123456789"]], 300),
        ] as [(JSON, Int64)])
    func minted(_ body: JSON, _ lifetime: Int64) async throws {
        let reply = await mint(body)
        let message = try reply.result.get()
        #expect(message.members?.map(\.name) == ["token", "ttl"])
        #expect(message["ttl"]?.string == "\(lifetime)s")
        let token = try #require(message["token"]?.string)
        let claims = try JSON.claims(of: token)
        #expect(claims["provider"]?.string == "mint")
        #expect(claims["sub"]?.string == AdminService.appID)
        #expect(try #require(claims["exp"]?.integer) - #require(claims["iat"]?.integer) == lifetime)
        if let id = body["limited_use_config"]?["jti"] { #expect(claims["jti"] == id) }
        #expect(service.isConsumed(await service.verify(token)) == false)
        #expect(service.isConsumed(await service.verify(token)) == true)
        let record = try #require(service.sink.record(of: reply.decision))
        #expect(record.provider == "mint")
        #expect(record.caller == "minter")
        guard case .issued(claims["jti"]?.string, lifetime == 300, _) = record.outcome else {
            Issue.record("\(record.outcome)")
            return
        }
    }

    @Test(
        "A request for a token that cannot be is refused",
        arguments: [
            ["tokenTtl": "1799s"], ["tokenTtl": "604801s"], ["tokenTtl": "604800.5s"], ["tokenTtl": "1h"],
            ["tokenTtl": "3600s", "limitedUseConfig": [:]], ["limitedUseConfig": ["jti": "short"]],
            ["limitedUseConfig": ["jti": .string(String(repeating: "x", count: 251))]], ["limitedUseConfig": "yes"],
        ] as [JSON])
    func refused(_ body: JSON) async {
        #expect(await mint(body).status == .invalidArgument)
    }

    @Test("Only callers with the permission may, and only for apps of their projects")
    func permission() async {
        #expect(await mint([:], as: nil).status == .unauthenticated)
        #expect(await mint([:], as: AdminService.verifier).status == .permissionDenied)
        #expect(await mint([:], AdminService.otherApp).status == .permissionDenied)
        #expect(await mint([:], "projects/example-project/apps/1:9:ios:9").status == .permissionDenied)
        #expect(await mint([:], AdminService.otherApp, as: AdminService.admin).status == nil)
    }

    @Test("No plugin may call itself what minted tokens say")
    func reservedName() {
        struct Impostor: AttestationProvider {
            struct Configuration: Decodable, Sendable {}
            static let descriptor = PluginDescriptor.provider(name: "mint", summary: "", reasons: [])
            static let methods: [ProviderMethod<Impostor>] = []
            init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
        }
        #expect(throws: RegistryError.self) { try Registry([.provider(Impostor.self)], administration: .api) }
    }
}
