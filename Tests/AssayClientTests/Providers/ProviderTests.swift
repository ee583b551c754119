import AssayCore
import Testing

@testable import AssayClient

@Suite("Providers")
struct ProviderTests {
    private func bodies(_ scene: ClientScene) throws -> [JSON] {
        try scene.service.requests.map { try JSON.parse($0.body) }
    }

    @Test(
        "the debug token comes from the code, else from the environment",
        arguments: [
            (["AppCheckDebugToken": "one", "FIRAAppCheckDebugToken": "two"], "one"),
            (["FIRAAppCheckDebugToken": "two"], "two"),
            (["AppCheckDebugToken": "", "FIRAAppCheckDebugToken": "two"], "two"),
        ])
    func environment(variables: [String: String], sent: String) async throws {
        let service = FakeService()
        var options = AppCheckOptions(transport: service, storage: MemoryStorage())
        options.environment = { variables[$0] }
        options.notice = { Issue.record("\($0)") }
        let appCheck = try AppCheck(
            app: FakeToken.app, endpoint: "https://assay.example.com", provider: DebugProvider(), options: options)
        _ = try await appCheck.token()
        #expect(try JSON.parse(try #require(service.requests.first).body)["debug_token"]?.string == sent)
    }

    @Test("without one a debug token is made, kept, and told once")
    func makesDebugToken() async throws {
        let scene = try ClientScene(provider: DebugProvider())
        _ = try await scene.appCheck.token()
        _ = try await scene.appCheck.token(forcingRefresh: true)
        let sent = try bodies(scene).compactMap { $0["debug_token"]?.string }
        #expect(Set(sent).count == 1)
        let token = try #require(sent.first)
        #expect(token.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-4[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/) != nil)
        #expect(scene.notices.all.count == 1)
        #expect(scene.notices.all.first?.contains(token) == true)

        let next = try ClientScene(scene.service, storage: scene.storage, provider: DebugProvider())
        _ = try await next.appCheck.token(forcingRefresh: true)
        #expect(try #require(bodies(scene).last)["debug_token"]?.string == token)
        #expect(next.notices.all.count == 1)
    }

    @Test(
        "a debug token that cannot be one is not sent",
        arguments: ["", "two words", String(repeating: "a", count: 257)])
    func refusesDebugToken(token: String) async throws {
        let scene = try ClientScene(provider: DebugProvider(debugToken: token))
        #expect(await clientError { _ = try await scene.appCheck.token() }?.code == .invalidConfiguration)
        #expect(scene.service.requests.isEmpty)
    }

    @Test("a closure is a provider, and is told which kind of token is wanted")
    func custom() async throws {
        let scene = try ClientScene(
            provider: CustomProvider { request in
                IssuedToken(
                    text: FakeToken.text(number: request.isLimitedUse ? 2 : 1), lifetime: .minutes(30))
            })
        #expect(try await scene.appCheck.token().text == FakeToken.text(number: 1))
        #expect(try await scene.appCheck.limitedUseToken().text == FakeToken.text(number: 2))
        #expect(scene.service.requests.isEmpty)
    }

    @Test("a closure's own error is the cause, and the next call asks it again")
    func customFailure() async throws {
        struct Own: Error {}
        let calls = Notices()
        let scene = try ClientScene(
            provider: CustomProvider { _ in
                calls.add("")
                throw Own()
            })
        for _ in 0..<3 {
            let error = await clientError { _ = try await scene.appCheck.token() }
            #expect(error?.code == .providerFailed)
            #expect(error?.cause is Own)
        }
        #expect(calls.all.count == 3)
    }

    @Test("a closure can say when to come back")
    func customPause() async throws {
        let scene = try ClientScene(
            provider: CustomProvider { _ in throw AppCheckError(.providerFailed, "Full.", retryAfter: .minutes(2)) })
        let error = try #require(await clientError { _ = try await scene.appCheck.token() })
        #expect(try #require(error.retryAfter) >= .minutes(2))
    }

    @Test(
        "a closure's token is checked like a server's",
        arguments: [
            (FakeToken.text(number: 1, subject: "another"), Interval.minutes(30), AppCheckError.Code.foreignToken),
            ("no token", .minutes(30), .malformedReply), (FakeToken.text(number: 1), .zero, .malformedReply),
            (FakeToken.text(number: 1), .minutes(7 * 24 * 60 + 1), .malformedReply),
        ])
    func customChecked(token: String, lifetime: Interval, code: AppCheckError.Code) async throws {
        let scene = try ClientScene(provider: CustomProvider { _ in IssuedToken(text: token, lifetime: lifetime) })
        #expect(await clientError { _ = try await scene.appCheck.token() }?.code == code)
    }

    @Test("a token of DeviceCheck is sent in Base 64")
    func deviceCheck() async throws {
        let scene = try ClientScene(provider: DeviceCheckProvider { [0xFB, 0xFF, 0xFE] })
        _ = try await scene.appCheck.limitedUseToken()
        let body = try #require(try bodies(scene).first)
        #expect(body["device_token"]?.string == "+//+")
        #expect(body["limited_use"] == .bool(true))
        #expect(scene.service.methods == ["exchangeDeviceCheckToken"])
    }

    @Test("an app's own provider calls methods of a plugin")
    func ownProvider() async throws {
        struct DoorLock: AppCheckProvider {
            func token(_ request: TokenRequest) async throws -> IssuedToken {
                let challenge = try await request.service.challenge("generateDoorLockChallenge")
                return try await request.service.exchange(
                    "exchangeDoorLockCode", ["code": .bytes(challenge.reversed())], isLimitedUse: request.isLimitedUse)
            }
        }
        let scene = try ClientScene(provider: DoorLock())
        scene.service.next { _ in .json(200, ["challenge": "AQID", "ttl": "300s"]) }
        _ = try await scene.appCheck.token()
        #expect(scene.service.methods == ["generateDoorLockChallenge", "exchangeDoorLockCode"])
        #expect(scene.service.requests.first?.body == [])
        #expect(String(decoding: try #require(scene.service.requests.last).body, as: UTF8.self).contains("\"AwIB\""))
    }

    @Test(
        "a challenge that is none is refused",
        arguments: [
            #"{}"#, #"{"challenge":""}"#, #"{"challenge":"*"}"#, #"{"challenge":7}"#,
            "{\"challenge\":\"\(String(repeating: "AAAA", count: 2000))\"}",
        ])
    func wrongChallenge(body: String) async throws {
        let scene = try ClientScene(
            provider: CustomProvider { request in
                _ = try await request.service.challenge("generateAppAttestChallenge")
                return IssuedToken(text: "", lifetime: .zero)
            })
        scene.service.next { _ in ClientResponse(status: 200, body: Array(body.utf8)) }
        #expect(await clientError { _ = try await scene.appCheck.token() }?.code == .malformedReply)
    }
}
