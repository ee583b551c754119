import AssayClientHTTP
import AssayCore
import AssayTesting
import Testing

@testable import AssayClient

/// The whole client against `assay serve`, over HTTP.
@Suite("A server in a process", .serialized, .timeLimit(.minutes(10)))
struct ServerProcessTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"

    /// An app with a transport of its own and a clock that a test moves.
    private struct App {
        let clock = FakeClock()
        let transport: HTTPClientTransport
        let options: AppCheckOptions
        let appCheck: AppCheck

        init(_ server: ServerProcess, _ provider: any AppCheckProvider) throws {
            transport = try HTTPClientTransport()
            var options = AppCheckOptions(transport: transport, storage: MemoryStorage())
            options.clock = clock
            options.notice = { _ in }
            self.options = options
            appCheck = try AppCheck(
                app: ServerProcessTests.app, endpoint: server.base, provider: provider, options: options)
        }

        init(attesting server: ServerProcess) throws {
            try self.init(server, AppAttestProvider(device: SimulatedAttestingDevice(authority: server.authority)))
        }
    }

    @Test("a debug token is exchanged, and a wrong one is refused with a decision that the log has")
    func debug() async throws {
        try await ServerProcess.with { server in
            let good = try App(server, DebugProvider(debugToken: ServerProcess.debugToken))
            let token = try await good.appCheck.token()
            #expect(token.lifetime == .minutes(60))
            #expect(try await good.appCheck.token(forcingRefresh: true).text != token.text)
            #expect(try await good.appCheck.limitedUseToken().isLimitedUse)

            let bad = try App(server, DebugProvider(debugToken: "11111111-2222-4333-8444-555555555555"))
            let error = try #require(await clientError { _ = try await bad.appCheck.token() })
            #expect(error.code == .refused)
            #expect(error.status == 403)
            let decision = try #require(error.decision)
            try await eventually("the log has it") { server.hasLogged(decision) }
            await good.transport.shutDown()
            await bad.transport.shutDown()
        }
    }

    @Test("a backend behind a proxy lets requests with tokens pass, one for each limited-use token")
    func backend() async throws {
        try await ServerProcess.with { server in
            let app = try App(attesting: server)
            let request = ClientRequest(url: "\(server.base)/verify/orders")
            #expect(try await app.transport.send(request).status == 401)
            for kind in [ProtectedCalls.TokenKind.session, .limitedUse] {
                let calls = ProtectedCalls(appCheck: app.appCheck, transport: app.transport, token: kind)
                for _ in 0..<3 { #expect(try await calls.send(request).status == 204) }
            }
            // The same limited-use token twice.
            let token = try await app.appCheck.limitedUseToken().text
            var twice = request
            twice.headers = [ClientHeader("X-Firebase-AppCheck", token)]
            #expect(try await app.transport.send(twice).status == 204)
            #expect(try await app.transport.send(twice).status == 403)
            await app.transport.shutDown()
        }
    }

    @Test("a backend with other keys refuses the token, and one fresh token is tried")
    func otherKeys() async throws {
        try await ServerProcess.with { server in
            try await ServerProcess.with { other in
                let app = try App(attesting: server)
                let first = try await app.appCheck.token()
                app.clock.advance(by: .minutes(2))
                let calls = ProtectedCalls(appCheck: app.appCheck, transport: app.transport)
                #expect(try await calls.send(ClientRequest(url: "\(other.base)/verify/orders")).status == 401)
                #expect(try await app.appCheck.token().text != first.text)
                await app.transport.shutDown()
            }
        }
    }

    @Test("Fleet Engine's token is for the user's own trip")
    func fleetEngine() async throws {
        try await ServerProcess.with { server in
            let app = try App(attesting: server)
            let user = try server.user(trip: "trip-1")
            let tokens = try FleetEngineTokens(
                appCheck: app.appCheck, endpoint: server.base, fleetProvider: "example-project", options: app.options
            ) { user }
            let token = try await tokens.fetchToken(for: .trip("trip-1"))
            #expect((3000...3600).contains(token.secondsLeft))
            let payload = token.text.split(separator: ".").dropFirst().first ?? ""
            let claims = try JSON.parse(try #require(Base64.decode(payload)))
            #expect(claims["authorization"]?["tripid"]?.string == "trip-1")
            #expect(try await tokens.fetchToken(for: .trip("trip-1")).text == token.text)

            let error = try #require(await clientError { _ = try await tokens.fetchToken(for: .trip("trip-2")) })
            #expect(error.code == .refused)
            try await eventually("the log has it") { error.decision.map(server.hasLogged) == true }
            await app.transport.shutDown()
        }
    }

    @Test("a response beyond its limit, a server that is not there, and an unknown app have errors of their own")
    func failures() async throws {
        try await ServerProcess.with { server in
            let transport = try HTTPClientTransport()
            await #expect(throws: ResponseTooLong.self) {
                try await transport.send(ClientRequest(url: "\(server.base)/v1/jwks", responseLimit: 10))
            }
            await #expect(throws: HTTPClientTransport.Failure.self) {
                try await transport.send(ClientRequest(url: "http://assay.example.com/v1/jwks"))
            }
            await #expect(throws: HTTPClientTransport.Failure.self) {
                try await transport.send(ClientRequest(method: "GET /", url: server.base))
            }
            #expect(try await transport.send(ClientRequest(url: "\(server.base)/v1/jwks")).status == 200)

            var options = AppCheckOptions(transport: transport, storage: MemoryStorage())
            options.notice = { _ in }
            func code(_ app: String, _ endpoint: String) async -> AppCheckError.Code? {
                await clientError {
                    let appCheck = try AppCheck(
                        app: app, endpoint: endpoint, provider: DebugProvider(debugToken: "a"), options: options)
                    _ = try await appCheck.token()
                }?.code
            }
            #expect(await code(Self.app, "http://127.0.0.1:1") == .unreachable)
            let unknown = await code("projects/example-project/apps/1:1234567890:ios:unknown", server.base)
            #expect([.notConfigured, .refused].contains(unknown))
            await transport.shutDown()
            #expect(await code(Self.app, server.base) == .unreachable)
        }
    }
}
