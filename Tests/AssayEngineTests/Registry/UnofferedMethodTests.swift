import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayServices
import AssayTesting
import Testing

@Suite("Methods that a program does not offer")
struct UnofferedMethodTests {
    /// Some methods of Google's App Check, as a program lists them; plugins offer the last two.
    private static let listed: [MethodDescriptor] = [
        method("exchangePlayIntegrityToken", [.app], MethodPath(.post, ":exchangePlayIntegrityToken"), nil),
        method("getPlayIntegrityConfig", [.app], MethodPath(.get, "/playIntegrityConfig")),
        method("batchGetRecaptchaV3Configs", [.project], MethodPath(.get, "/apps/-/recaptchaV3Config:batchGet")),
        method("listServiceAutomations", [.project], MethodPath(.get, "/services/{serviceId}/automations")),
        method(
            "exchangeAppAttestAttestation", [.app, .oauthClient], MethodPath(.post, ":exchangeAppAttestAttestation"),
            nil),
        method("getAppAttestConfig", [.app], MethodPath(.get, "/appAttestConfig")),
        method("exchangeDebugToken", [.app, .oauthClient], MethodPath(.post, ":exchangeDebugToken"), nil),
        method("getDebugTokens", [.app], MethodPath(.get, "/debugTokens/{id}")),
    ]

    private static func method(
        _ name: String, _ resources: Set<ResourceKind>, _ path: MethodPath, _ permission: Permission? = .admin
    ) -> MethodDescriptor {
        MethodDescriptor(name: name, kind: .notOffered(permission), resources: resources, path: path)
    }

    @Test("They say so to those who may know, and the record has their names")
    func unimplemented() async throws {
        let service = try AdminService(unoffered: Self.listed)
        for (method, resource) in [
            ("exchangePlayIntegrityToken", AdminService.app), ("getPlayIntegrityConfig", AdminService.app),
            ("batchGetRecaptchaV3Configs", AdminService.project), ("listServiceAutomations", AdminService.project),
            ("exchangeAppAttestAttestation", "oauthClients/example-client"), ("getAppAttestConfig", AdminService.app),
        ] {
            let reply = await service.call(method, resource)
            #expect(reply.status == .unimplemented)
            guard case .rejected(.unimplemented) = service.sink.records.last?.outcome else {
                Issue.record("\(method): not on record")
                continue
            }
        }
        #expect(await service.call("exchangePlayIntegrityToken", AdminService.app, as: nil).status == .unimplemented)
        #expect(await service.call("getPlayIntegrityConfig", AdminService.app, as: nil).status == .unauthenticated)
    }

    @Test("The settings of a provider that is not there are those of an app without it, and cannot be changed")
    func unset() async throws {
        let standard: JSON = ["tokenTtl": "86400s", "score": .number(0.5)]
        let listed = [
            ("getPageConfig", ResourceKind.app, MethodPath(.get, "/pageConfig")),
            (
                "updatePageConfig", .app,
                MethodPath(.patch, "/pageConfig", body: .field("config"), query: ["updateMask"])
            ),
            ("batchGetPageConfigs", .project, MethodPath(.get, "/apps/-/pageConfig:batchGet", query: ["names"])),
        ].map {
            MethodDescriptor(
                name: $0, kind: .unset(resource: "pageConfig", standard: standard), resources: [$1], path: $2)
        }
        let service = try AdminService(unoffered: listed)
        let name = "projects/1234567890/apps/\(AdminService.appID)/pageConfig"
        let shown: JSON = ["name": .string(name), "tokenTtl": "86400s", "score": .number(0.5)]
        #expect(try await service.call("getPageConfig", AdminService.app).result.get() == shown)
        #expect(try await service.call("batchGetPageConfigs", AdminService.project).result.get() == [:])
        #expect(
            try await service.call("batchGetPageConfigs", AdminService.project, ["names": [.string(name)]]).result.get()
                == ["configs": [shown]])
        for (config, mask, status) in [
            (["tokenTtl": "86400s"], "tokenTtl", nil), ([:], "tokenTtl", nil), ([:], "", .invalidArgument),
            (["tokenTtl": "3600s"], "tokenTtl", StatusCode.failedPrecondition),
            (["siteSecret": "a"], "siteSecret,tokenTtl", .failedPrecondition),
            (["score": .number(0.7)], "score", .failedPrecondition), (["tokenTtl": "1s"], "tokenTtl", .invalidArgument),
        ] as [(JSON, String, StatusCode?)] {
            let reply = await service.call(
                "updatePageConfig", AdminService.app, ["config": config, "updateMask": .string(mask)])
            #expect(reply.status == status, "\(config) \(mask)")
        }
        #expect(await service.call("getPageConfig", AdminService.app, as: nil).status == .unauthenticated)
    }

    @Test("What a plugin offers is not among them, by name or by path")
    func offered() throws {
        let methods = try Registry([.provider(DebugProvider.self)], administration: .api, unoffered: Self.listed)
            .methods
        let debug = methods.filter { $0.name == "exchangeDebugToken" }
        #expect(debug.map(\.kind) == [.exchange(.alone)])
        #expect(!methods.contains { $0.name == "getDebugTokens" })
        #expect(Set(methods.map(\.name)).count == methods.count)
        let rules = methods.flatMap(\.rules).map(\.description)
        #expect(Set(rules).count == rules.count)
    }
}
