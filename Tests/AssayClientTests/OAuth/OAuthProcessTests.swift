import AssayClient
import AssayClientHTTP
import AssayCore
import AssayTesting
import Testing

/// An authorization server that has `assay serve` verify its clients, and forwards what that says; other requests go by
/// HTTP.
private struct LoginServer: ClientTransport {
    static let issuer = "https://login.example.com"
    let base: String
    let http: HTTPClientTransport

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        guard request.url.hasPrefix(Self.issuer) else { return try await http.send(request) }
        func values(_ name: String) -> JSON {
            .array(request.headers.filter { $0.name == name }.map { .string($0.value) })
        }
        let question: JSON = [
            "audience": .string(Self.issuer), "method": .string(request.method), "uri": .string(request.url),
            "clientId": "example-ios", "clientAttestation": values("OAuth-Client-Attestation"),
            "clientAttestationPop": values("OAuth-Client-Attestation-PoP"), "dpop": values("DPoP"),
        ]
        return try await http.send(
            ClientRequest(
                method: "POST", url: "\(base)/client-attestation/verify",
                headers: [
                    ClientHeader("Authorization", "Bearer \(ServerProcess.caller)"),
                    ClientHeader("Content-Type", "application/json"),
                ], body: question.encoded))
    }
}

@Suite("OAuth clients and a server in a process", .serialized, .timeLimit(.minutes(10)))
struct OAuthProcessTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"

    @Test(
        "an attested client is authenticated by a server that demands a challenge and a nonce",
        arguments: [AuthorizationServer.Proofs.possessionAndDPoP, .combined], [false, true])
    func authenticated(proofs: AuthorizationServer.Proofs, hasEndpoint: Bool) async throws {
        try await ServerProcess.with { server in
            let http = try HTTPClientTransport()
            var options = AppCheckOptions(
                transport: LoginServer(base: server.base, http: http), storage: MemoryStorage())
            // The device's time of day is wrong by a century.
            options.clock = FakeClock()
            options.notice = { _ in }
            let appCheck = try AppCheck(
                app: Self.app, endpoint: server.base,
                provider: AppAttestProvider(device: SimulatedAttestingDevice(authority: server.authority)),
                options: options)
            let attestations = try ClientAttestations(
                appCheck: appCheck, endpoint: server.base, client: "example-ios", keys: OpenSSLKeys(), options: options)
            let challenges = "\(server.base)/client-attestation/challenge?audience=https%3A%2F%2Flogin.example.com"
            let client = OAuthClient(
                server: try AuthorizationServer(
                    issuer: LoginServer.issuer, challengeEndpoint: hasEndpoint ? challenges : nil, proofs: proofs),
                attestations: attestations)
            for _ in 0..<3 {
                let response = try await client.send(
                    ClientRequest(method: "POST", url: "\(LoginServer.issuer)/token?a=b"))
                let reply = try JSON.parse(response.body)
                #expect(response.status == 200, "\(reply)")
                #expect(reply["clientId"] == "example-ios")
                let attestation = try await attestations.clientAttestation(for: LoginServer.issuer)
                #expect(reply["jkt"]?.string == attestation.thumbprint)
                #expect(reply["attester"] == "self")
            }
            await http.shutDown()
        }
    }

    @Test("an attestation of another client than the app's is not used, and a refusal has a decision that the log has")
    func refused() async throws {
        try await ServerProcess.with { server in
            let http = try HTTPClientTransport()
            var options = AppCheckOptions(transport: http, storage: MemoryStorage())
            options.notice = { _ in }
            let appCheck = try AppCheck(
                app: Self.app, endpoint: server.base, provider: DebugProvider(debugToken: ServerProcess.debugToken),
                options: options)
            let other = try ClientAttestations(
                appCheck: appCheck, endpoint: server.base, client: "another", keys: OpenSSLKeys(), options: options)
            let error = await clientError { _ = try await other.clientAttestation(for: LoginServer.issuer) }
            #expect(error?.code == .foreignToken)
            // A session token, which the policy does not accept here.
            let session = try AppCheck(
                app: Self.app, endpoint: server.base,
                provider: CustomProvider { _ in
                    let token = try await appCheck.token(forcingRefresh: true)
                    return IssuedToken(text: token.text, lifetime: .seconds(3600))
                }, options: options)
            let attestations = try ClientAttestations(
                appCheck: session, endpoint: server.base, keys: OpenSSLKeys(), options: options)
            let refusal = try #require(
                await clientError { _ = try await attestations.clientAttestation(for: LoginServer.issuer) })
            #expect(refusal.code == .refused && refusal.status == 401)
            let decision = try #require(refusal.decision)
            try await eventually("the log has it") { server.hasLogged(decision) }
            await http.shutDown()
        }
    }

    @Test("a client assertion is accepted once")
    func assertion() async throws {
        try await ServerProcess.with { server in
            let http = try HTTPClientTransport()
            var options = AppCheckOptions(transport: http, storage: MemoryStorage())
            options.notice = { _ in }
            let appCheck = try AppCheck(
                app: Self.app, endpoint: server.base, provider: DebugProvider(debugToken: ServerProcess.debugToken),
                options: options)
            let url = try await appCheck.clientAssertion().adding(
                to: "https://login.example.com/auth?client_id=example-ios")
            let query = url.split(separator: "?").last.map(String.init) ?? ""
            let request = ClientRequest(
                method: "POST", url: "\(server.base)/oauth/client-assertion",
                headers: [
                    ClientHeader("Authorization", "Bearer \(ServerProcess.caller)"),
                    ClientHeader("Content-Type", "application/x-www-form-urlencoded"),
                ], body: Array("\(query)&audience=https%3A%2F%2Flogin.example.com".utf8))
            let first = try await http.send(request)
            #expect(first.status == 200, "\(String(decoding: first.body, as: UTF8.self))")
            #expect(try JSON.parse(first.body)["result"] == "verified")
            #expect(try await http.send(request).status == 400)
            await http.shutDown()
        }
    }
}
