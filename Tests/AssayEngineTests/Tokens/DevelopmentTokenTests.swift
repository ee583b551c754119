import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import AssayVerifier
import Testing

/// A provider for development that has another name than ours.
private struct SimulatorProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let descriptor = PluginDescriptor.provider(
        name: "simulator", summary: "Anybody.", reasons: [], isForDevelopment: true)
    static let methods: [ProviderMethod<SimulatorProvider>] = [
        .exchange("exchangeNothing") { (_, _: Request, _) in .verified }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("Tokens of providers for development")
struct DevelopmentTokenTests {
    private static let exchanges: [(method: String, body: JSON, provider: ExactText, isForDevelopment: Bool)] = [
        ("exchangeDebugToken", ["debugToken": .string(AdminService.debugToken)], "debug", true),
        ("exchangeNothing", [:], "simulator", true), ("exchangeWord", [:], "vouch", false),
    ]

    @Test(
        "They say so, and no other token has the claim; a backend refuses them unless it names the provider",
        arguments: exchanges)
    func claim(method: String, body: JSON, provider: ExactText, isForDevelopment: Bool) async throws {
        let service = try AdminService(
            providers: "{vouch: {}, simulator: {}, debug: {tokens: [{name: a, sha256: \(AdminService.debugHash)}]}}",
            plugins: [.provider(VouchProvider.self), .provider(DebugProvider.self), .provider(SimulatorProvider.self)])
        let text = try await service.token(AdminService.app, body, by: method)
        let payload = try #require(
            text.split(separator: ".").dropFirst().first.flatMap { Base64.decodeURL(utf8: ArraySlice($0.utf8)) })
        #expect(try JSON.parse(payload)["development"] == (isForDevelopment ? true : nil))

        let keySet = try await service.call("jwks", "", as: nil, version: .v1).result.get()
        let url = try #require(EndpointURL("https://example.com/v1/jwks"))
        for named in [nil, provider] {
            let requirements = TokenRequirements(
                issuer: "https://firebaseappcheck.googleapis.com/1234567890", audience: "projects/1234567890",
                providers: named.map { [$0] })
            let http = ScriptedHTTP([.success(OutboundResponse(status: 200, headers: [], body: keySet.encoded))])
            let verifier = AppCheckVerifier(
                keySet: url, requirements: requirements, http: http, clock: service.clock.hostClock,
                logger: TestService.silent)
            switch try await verifier.verify(text) {
            case .verified(let token):
                #expect(!isForDevelopment || named != nil)
                #expect(token.isForDevelopment == isForDevelopment)
            case .refused(let reason):
                #expect(isForDevelopment && named == nil)
                #expect(reason == TokenReasons.forDevelopment)
            }
        }
    }
}
