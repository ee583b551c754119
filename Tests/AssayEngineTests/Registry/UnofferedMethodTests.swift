import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
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

    @Test("What a plugin offers is not among them, by name or by path")
    func offered() throws {
        let methods = try Registry([.provider(DebugProvider.self)], unoffered: Self.listed).methods
        let debug = methods.filter { $0.name == "exchangeDebugToken" }
        #expect(debug.map(\.kind) == [.exchange(.alone)])
        #expect(!methods.contains { $0.name == "getDebugTokens" })
        #expect(Set(methods.map(\.name)).count == methods.count)
        let rules = methods.flatMap(\.rules).map(\.description)
        #expect(Set(rules).count == rules.count)
    }
}
