import AssayCore
import Testing

@testable import AssayClient

@Suite("Fleet Engine's tokens")
struct FleetEngineTokenTests {
    /// A backend of tokens for Fleet Engine, beside the App Check service of a scene.
    private struct FleetScene {
        let scene: ClientScene
        let backend: FakeService
        let tokens: FleetEngineTokens

        init(
            _ backend: FakeService, fleetProvider: String? = "example-project", user: String? = "user-jwt",
            kind: ProtectedCalls.TokenKind = .session
        ) throws {
            self.backend = backend
            scene = try ClientScene()
            var options = AppCheckOptions(transport: backend, storage: MemoryStorage())
            options.clock = scene.clock
            tokens = try FleetEngineTokens(
                appCheck: scene.appCheck, endpoint: "https://fleet.example.com", fleetProvider: fleetProvider,
                options: options, appCheckToken: kind
            ) { user }
        }
    }

    /// A token that names what it is for, and how it is asked for.
    private static func answer(_ request: ClientRequest) -> ClientResponse {
        .json(200, ["jwt": .string("jwt-of-\(request.url.split(separator: "/").last ?? "")"), "expires_in": 3600])
    }

    @Test(
        "each context has its path, in which its identifier is escaped",
        arguments: [
            (FleetEngineContext.vehicle("vehicle-7"), "/token/driver/vehicle-7"),
            (.trip("trip 1"), nil), (.trip("träger"), "/token/consumer/tr%C3%A4ger"),
            (.deliveryVehicle("v_1.2~3"), "/token/delivery_driver/v_1.2~3"),
            (.tracking("a%2Fb"), "/token/delivery_consumer/a%252Fb"), (.trip(""), nil), (.trip(".."), nil),
            (.trip("a/b"), nil), (.trip("a?b"), nil), (.trip(String(repeating: "a", count: 65)), nil),
            (.trip("a\nb"), nil),
        ] as [(FleetEngineContext, String?)])
    func paths(context: FleetEngineContext, path: String?) async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        guard let path else {
            let error = await clientError { _ = try await fleet.tokens.fetchToken(for: context) }
            #expect(error?.code == .invalidConfiguration)
            return
        }
        let token = try await fleet.tokens.fetchToken(for: context)
        #expect(token.context.isSame(as: context))
        #expect(token.secondsLeft == 3600)
        let request = try #require(fleet.backend.requests.first)
        #expect(request.url == "https://fleet.example.com\(path)")
        #expect(request.headers.first { $0.name == "Authorization" }?.value == "Bearer user-jwt")
        #expect(request.headers.first { $0.name == "X-Firebase-AppCheck" }?.value == FakeToken.text(number: 1))
    }

    @Test("a task's token is exchanged for, with both tokens in the body")
    func task() async throws {
        let fleet = try FleetScene(
            FakeService { _ in .json(200, ["access_token": "jwt-of-task", "expires_in": 3600]) })
        #expect(try await fleet.tokens.fetchToken(for: .task("task 1".replacing(" ", with: "-"))).text == "jwt-of-task")
        let request = try #require(fleet.backend.requests.first)
        #expect(request.method == "POST")
        #expect(request.url == "https://fleet.example.com/token")
        let form = Set(String(decoding: request.body, as: UTF8.self).split(separator: "&").map(String.init))
        #expect(form.contains("scope=delivery_consumer"))
        #expect(form.contains("actor_token=user-jwt"))
        #expect(form.contains("subject_token=\(FakeToken.text(number: 1))"))
        #expect(
            form.contains(
                "resource=https%3A%2F%2Ffleetengine.googleapis.com%2Fv1%2Fproviders%2Fexample-project%2Ftasks%2Ftask-1")
        )
        let without = try FleetScene(FakeService(Self.answer), fleetProvider: nil)
        let error = await clientError { _ = try await without.tokens.fetchToken(for: .task("task-1")) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test("a token is kept until ten minutes before its end, for its own identifier alone")
    func caches() async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        let clock = fleet.scene.clock
        #expect(try await fleet.tokens.fetchToken(for: .trip("1")).text == "jwt-of-1")
        #expect(try await fleet.tokens.fetchToken(for: .trip("2")).text == "jwt-of-2")
        #expect(try await fleet.tokens.fetchToken(for: .vehicle("1")).text == "jwt-of-1")
        clock.advance(by: .minutes(50) - .milliseconds(1))
        let kept = try await fleet.tokens.fetchToken(for: .trip("1"))
        #expect(kept.text == "jwt-of-1" && kept.secondsLeft == 600)
        #expect(fleet.backend.requests.count == 3)
        clock.advance(by: .milliseconds(1))
        _ = try await fleet.tokens.fetchToken(for: .trip("1"))
        #expect(fleet.backend.requests.count == 4)
    }

    @Test("identifiers that are equal as Unicode text are different ones")
    func bytes() async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        let first = try await fleet.tokens.fetchToken(for: .trip("é"))
        let second = try await fleet.tokens.fetchToken(for: .trip("e\u{301}"))
        #expect(first.text == "jwt-of-%C3%A9" && second.text == "jwt-of-e%CC%81")
    }

    @Test("callers of one context share a fetch; those of another do not wait for it")
    func shares() async throws {
        let gate = Gate()
        let fleet = try FleetScene(
            FakeService { request in
                if request.url.hasSuffix("/slow") { await gate.pass() }
                return Self.answer(request)
            })
        let tokens = fleet.tokens
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await tokens.fetchToken(for: .trip("slow")).text } }
            try await eventually("a request") { gate.count == 1 }
            #expect(try await tokens.fetchToken(for: .trip("quick")).text == "jwt-of-quick")
            gate.open()
            for try await text in group { #expect(text == "jwt-of-slow") }
        }
        #expect(fleet.backend.requests.count { $0.url.hasSuffix("/slow") } == 1)
    }

    @Test("the tokens of the last 64 identifiers are kept, and none after the user has changed")
    func bounded() async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        for index in 0...64 { _ = try await fleet.tokens.fetchToken(for: .trip("\(index)")) }
        #expect(fleet.backend.requests.count == 65)
        _ = try await fleet.tokens.fetchToken(for: .trip("64"))
        #expect(fleet.backend.requests.count == 65)
        _ = try await fleet.tokens.fetchToken(for: .trip("0"))
        #expect(fleet.backend.requests.count == 66)
        fleet.tokens.forget()
        _ = try await fleet.tokens.fetchToken(for: .trip("0"))
        #expect(fleet.backend.requests.count == 67)
    }

    @Test("a refusal names its decision, and pauses for its own identifier alone")
    func refused() async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        fleet.backend.next { _ in .error(403, "PERMISSION_DENIED", decision: "01KBH5DECISION") }
        let error = await clientError { _ = try await fleet.tokens.fetchToken(for: .trip("1")) }
        #expect(error?.code == .refused)
        #expect(error?.decision == "01KBH5DECISION")
        _ = try await fleet.tokens.fetchToken(for: .trip("2"))
        #expect(await clientError { _ = try await fleet.tokens.fetchToken(for: .trip("1")) }?.retryAfter != nil)
        #expect(fleet.backend.requests.count == 2)
    }

    @Test("each request has an App Check token of its own where the policy demands limited use")
    func limitedUse() async throws {
        let fleet = try FleetScene(
            FakeService { request in
                request.method == "POST"
                    ? .json(200, ["access_token": "jwt-of-task", "expires_in": 3600]) : Self.answer(request)
            }, kind: .limitedUse)
        _ = try await fleet.tokens.fetchToken(for: .trip("1"))
        _ = try await fleet.tokens.fetchToken(for: .trip("2"))
        _ = try await fleet.tokens.fetchToken(for: .task("task-1"))
        let sent = fleet.backend.requests.compactMap { $0.headers.first { $0.name == "X-Firebase-AppCheck" }?.value }
        #expect(Set(sent).count == 2)
        let exchange = try #require(fleet.backend.requests.last)
        let form = String(decoding: exchange.body, as: UTF8.self)
        #expect(form.contains("subject_token=") && !sent.contains { form.contains($0) })
        #expect(fleet.scene.service.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("true") })
    }

    @Test(
        "what a policy refuses has one code, and the server's words",
        arguments: [
            (400, "invalid_grant", "refused"), (400, "access_denied", "refused"), (400, "invalid_target", "refused"),
            (403, "access_denied", "refused"), (400, "invalid_request", "rejected"),
            (401, "invalid_client", "rejected"),
            (400, "invalid_grant ", "rejected"),
        ])
    func refusals(status: Int, error: String, code: String) async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        fleet.backend.next { _ in
            .json(status, ["error": .string(error), "error_description": .string("The token is not accepted.")])
        }
        let failure = await clientError { _ = try await fleet.tokens.fetchToken(for: .task("task-1")) }
        #expect("\(failure?.code, default: "none")" == code)
        #expect(failure?.message.contains("The server says: The token is not accepted.") == true)
    }

    @Test("an App Check token that the backend does not accept is a refusal")
    func refusedToken() async throws {
        let fleet = try FleetScene(FakeService(Self.answer))
        let challenge = ClientHeader("WWW-Authenticate", "AppCheck realm=\"a\", error=\"invalid_token\"")
        fleet.backend.next { _ in .error(401, "UNAUTHENTICATED", headers: [challenge]) }
        #expect(await clientError { _ = try await fleet.tokens.fetchToken(for: .trip("1")) }?.code == .refused)
    }

    @Test("a user's token that cannot be in a header is not sent", arguments: ["a b", "a\r\nX: y", ""])
    func wrongUser(token: String) async throws {
        let fleet = try FleetScene(FakeService(Self.answer), user: token)
        let error = await clientError { _ = try await fleet.tokens.fetchToken(for: .trip("1")) }
        #expect(error?.code == .invalidConfiguration)
        #expect(fleet.backend.requests.isEmpty)
    }
}
