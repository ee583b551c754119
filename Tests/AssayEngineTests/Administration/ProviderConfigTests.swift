import AssayAppAttest
import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

@Suite("The resources that show settings of providers")
struct ProviderConfigTests {
    /// A provider with settings of its own to show.
    struct Checker: AttestationProvider {
        struct Configuration: Decodable, Sendable {
            let key: String
        }

        static let descriptor = PluginDescriptor.provider(name: "checker", summary: "Checks.", reasons: [])
        static let methods: [ProviderMethod<Checker>] = [
            .config("deviceCheckConfig") { checker in
                [ReplyField("keyId", .string(checker.key)), ReplyField("privateKeySet", true)]
            }
        ]
        let key: String

        init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {
            key = configuration.key
        }
    }

    private static let secondApp = "projects/1234567890/apps/1:1234567890:ios:0000000000000002"
    private static let configured: JSON = [
        "name": "projects/1234567890/apps/1:1234567890:ios:321abc456def7890/deviceCheckConfig",
        "tokenTtl": "7200s", "keyId": "ABC", "privateKeySet": true,
    ]
    private static let unset: JSON = [
        "name": .string("\(secondApp)/deviceCheckConfig"), "tokenTtl": "3600s",
    ]

    private let service: AdminService

    init() throws {
        service = try AdminService(
            providers: "{checker: {key: ABC}}",
            plugins: [.provider(Checker.self), .provider(VouchProvider.self), .provider(AppAttestProvider.self)])
    }

    private func names(_ names: [String]) -> JSON { ["names": .array(names.map { .string($0) })] }

    @Test("An app's settings are shown, and the defaults where the policy has none")
    func get() async throws {
        #expect(try await service.call("getDeviceCheckConfig", AdminService.app).result.get() == Self.configured)
        #expect(try await service.call("getDeviceCheckConfig", Self.secondApp).result.get() == Self.unset)
        let other = try await service.call("getAppAttestConfig", AdminService.app).result.get()
        #expect(other["tokenTtl"] == "3600s")
        #expect(service.sink.records.map(\.provider) == ["checker", "checker", "app_attest"])
        let missing = "projects/example-project/apps/1:9:ios:9"
        #expect(await service.call("getDeviceCheckConfig", missing).status == .notFound)
        #expect(await service.call("getDeviceCheckConfig", AdminService.app, as: nil).status == .unauthenticated)
        let minter = await service.call("getDeviceCheckConfig", AdminService.app, as: AdminService.minter)
        #expect(minter.status == .permissionDenied)
        #expect(await service.call("getDeviceCheckConfig", "oauthClients/example-client").status == .invalidArgument)
    }

    @Test("A batch has the settings of the apps that it names, in their order, or of all that have any")
    func batchGet() async throws {
        let list = names([
            "\(Self.secondApp)/deviceCheckConfig", "\(AdminService.app)/deviceCheckConfig",
        ])
        let reply = try await service.call("batchGetDeviceCheckConfigs", AdminService.project, list).result.get()
        #expect(reply == ["configs": .array([Self.unset, Self.configured])])
        let all = try await service.call("batchGetDeviceCheckConfigs", "projects/1234567890").result.get()
        #expect(all == ["configs": .array([Self.configured])])
        #expect(try await service.call("batchGetAppAttestConfigs").result.get() == [:])
    }

    @Test("A batch fails whole when a name is wrong, of another project, or unknown")
    func wrongBatch() async {
        let good = "\(AdminService.app)/deviceCheckConfig"
        let cases: [([String], StatusCode)] = [
            ([good, "projects/other-project/apps/1:2:ios:ab/deviceCheckConfig"], .invalidArgument),
            ([good, "\(AdminService.app)/appAttestConfig"], .invalidArgument),
            ([good, "oauthClients/example-client/deviceCheckConfig"], .invalidArgument),
            ([good, ""], .invalidArgument),
            ([good, "projects/example-project/apps/1:9:ios:9/deviceCheckConfig"], .notFound),
            (Array(repeating: good, count: 101), .invalidArgument),
        ]
        for (list, status) in cases {
            let reply = await service.call("batchGetDeviceCheckConfigs", AdminService.project, names(list))
            #expect(reply.status == status)
        }
        let hundred = await service.call(
            "batchGetDeviceCheckConfigs", AdminService.project, names(Array(repeating: good, count: 100)))
        #expect(hundred.status == nil)
    }

    @Test(
        "An update that would change something says where the policy stands; one that would not succeeds",
        arguments: [
            ("tokenTtl", ["tokenTtl": "7200s"], nil),
            ("token_ttl,key_id", ["token_ttl": "7200s", "keyId": "ABC"], nil),
            ("privateKeySet", ["privateKeySet": true], nil), ("name", [:], nil),
            ("*", ["tokenTtl": "7200s", "keyId": "ABC", "privateKeySet": true], nil),
            ("tokenTtl", ["tokenTtl": "3600s"], .failedPrecondition), ("tokenTtl", [:], .failedPrecondition),
            ("keyId", ["keyId": "DEF"], .failedPrecondition), ("*", ["tokenTtl": "7200s"], .failedPrecondition),
            ("privateKey", ["privateKey": "secret"], .failedPrecondition), ("nonsense", [:], .failedPrecondition),
            ("tokenTtl", ["tokenTtl": "10s"], .invalidArgument), ("", [:], .invalidArgument),
            ("a..b,", [:], .invalidArgument),
        ] as [(String, JSON, StatusCode?)])
    func update(_ mask: String, _ config: JSON, _ status: StatusCode?) async throws {
        let reply = await service.call(
            "updateDeviceCheckConfig", AdminService.app, ["config": config, "updateMask": .string(mask)])
        #expect(reply.status == status)
        switch reply.result {
        case .success(let message): #expect(message == Self.configured)
        case .failure(let failure):
            if status == .failedPrecondition { #expect(failure.message.contains("test.yaml:13:")) }
            #expect(!failure.message.contains("secret"))
        }
    }

    @Test("For an app without the provider, the place is the app's")
    func updateOfUnset() async {
        let reply = await service.call(
            "updateDeviceCheckConfig", Self.secondApp, ["config": ["tokenTtl": "7200s"], "updateMask": "tokenTtl"])
        guard case .failure(let failure) = reply.result else {
            Issue.record("it succeeded")
            return
        }
        #expect(failure.status == .failedPrecondition)
        #expect(failure.message.contains("test.yaml:14:"), "\(failure.message)")
    }
}
