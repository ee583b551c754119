import AssayCore
import AssayDeviceCheck
import AssayEngine
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

private let malformed: [(JSON, Reason?)] = [
    ("!", DeviceCheckProvider.reasons.malformed), ("Zm9vA", DeviceCheckProvider.reasons.malformed),
    ("====", DeviceCheckProvider.reasons.malformed), (.string(String(repeating: "A", count: 16 * 1024 + 4)), nil),
    ("", nil), (1, nil), (nil, nil),
    (.string(Base64.encode([UInt8](repeating: 1, count: 15))), DeviceCheckProvider.reasons.malformed),
    (.string(Base64.encode([UInt8](repeating: 1, count: 8193))), DeviceCheckProvider.reasons.malformed),
]

private let refusals = [
    "Missing or incorrectly formatted device token payload", " missing or incorrectly formatted DEVICE TOKEN\n",
    #"{"responseCode":"400","responseMessage":"Missing or incorrectly formatted device token payload"}"#,
]

@Suite("DeviceCheck")
struct DeviceCheckProviderTests {
    @Test("A good token is exchanged, once")
    func once() async throws {
        let scene = try DeviceCheckScene()
        #expect(try await scene.exchange().get()["ttl"] == "3600s")
        #expect(await scene.exchange().failure?.reason == DeviceCheckProvider.reasons.reused)
        #expect(scene.questions == ["/v1/validate_device_token"])
        #expect(try await scene.exchange(DeviceCheckScene.token("b")).get()["token"] != nil)
    }

    @Test("A token speaks for one app of all that its team has")
    func apps() async throws {
        let scene = try DeviceCheckScene()
        #expect(await scene.exchange().failure == nil)
        let other = await scene.exchange(for: DeviceCheckScene.secondApp).failure
        #expect(other?.reason == DeviceCheckProvider.reasons.reused)
        #expect(await scene.exchange(DeviceCheckScene.token("b"), for: DeviceCheckScene.secondApp).failure == nil)
    }

    @Test("Other spellings of a token are the same token")
    func spellings() async throws {
        let scene = try DeviceCheckScene()
        guard case .string(let token) = DeviceCheckScene.token("??>") else { return }
        #expect(token.contains("/") || token.contains("+") || token.hasSuffix("="))
        #expect(try await scene.exchange(.string(token)).get()["token"] != nil)
        let other = String(token.replacing("+", with: "-").replacing("/", with: "_").prefix { $0 != "=" })
        #expect(await scene.exchange(.string(other)).failure?.reason == DeviceCheckProvider.reasons.reused)
    }

    @Test("Of fifty exchanges of one token at once, one gets a token")
    func concurrent() async throws {
        let scene = try DeviceCheckScene()
        let results = await withTaskGroup(of: Result<JSON, CallFailure>.self) { group in
            for _ in 0..<50 { group.addTask { await scene.exchange() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0.failure == nil }.count == 1)
        #expect(results.compactMap(\.failure).allSatisfy { $0.reason == DeviceCheckProvider.reasons.reused })
    }

    @Test("Of twenty exchanges of one token that Apple answers together, one gets a token", .timeLimit(.minutes(20)))
    func together() async throws {
        let gathering = Gathering(of: 20)
        let scene = try DeviceCheckScene(before: { apple, _ in GatheringHTTP(gathering, before: apple) })
        let results = await withTaskGroup(of: Result<JSON, CallFailure>.self) { group in
            for _ in 0..<20 { group.addTask { await scene.exchange() } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(gathering.arrivals == 20)
        #expect(results.filter { $0.failure == nil }.count == 1)
        #expect(results.compactMap(\.failure).allSatisfy { $0.reason == DeviceCheckProvider.reasons.reused })
    }

    @Test("A token is remembered for as long as the policy says")
    func memory() async throws {
        let scene = try DeviceCheckScene(", remember_for: 1h")
        #expect(await scene.exchange().failure == nil)
        scene.clock.advance(by: .seconds(3599))
        #expect(await scene.exchange().failure?.reason == DeviceCheckProvider.reasons.reused)
        scene.clock.advance(by: .seconds(1))
        #expect(await scene.exchange().failure == nil)
    }

    @Test("Where the policy allows it, a token is exchanged again, as far as Apple goes along")
    func reuse() async throws {
        let scene = try DeviceCheckScene(", allow_reuse: true")
        for _ in 0..<3 { #expect(await scene.exchange().failure == nil) }
        #expect(scene.questions.count == 3)
    }

    @Test("A token of the other environment is refused")
    func environments() async throws {
        let other = DeviceCheckScene.token(in: .development)
        #expect(
            await (try DeviceCheckScene()).exchange(other).failure?.reason == DeviceCheckProvider.reasons.refused)
        #expect(await (try DeviceCheckScene(", environment: development")).exchange(other).failure == nil)
    }

    @Test("What is no device token is refused without a question", arguments: malformed)
    func malformedTokens(_ token: JSON, _ reason: Reason?) async throws {
        let scene = try DeviceCheckScene()
        let failure = try #require(await scene.exchange(token).failure)
        #expect(failure.reason == reason)
        #expect(failure.status == (reason == nil ? .invalidArgument : .permissionDenied))
        #expect(scene.questions == [])
    }

    @Test("Apple's words for a bad device token refuse it, however they are written", arguments: refusals)
    func words(_ text: String) async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script([.respond(OutboundResponse(status: 400, body: Array(text.utf8)))])
        let failure = await scene.exchange().failure
        #expect(failure?.status == .permissionDenied)
        #expect(failure?.reason == DeviceCheckProvider.reasons.refused)
        // Clients make a new token for each exchange.
        #expect(await scene.exchange(DeviceCheckScene.token(number: 1)).failure == nil)
    }

    @Test("Apple is asked as documented: the team's token behind Bearer, a transaction, the time")
    func request() async throws {
        let scene = try DeviceCheckScene()
        _ = await scene.exchange()
        let request = try #require(scene.apple.requests.first)
        #expect("\(request.url)" == "https://api.devicecheck.apple.com/v1/validate_device_token")
        #expect(request.header("authorization")?.hasPrefix("Bearer ") == true)
        let body = try JSON.parse(request.body)
        #expect(body["device_token"] == DeviceCheckScene.token())
        #expect(body["transaction_id"]?.string?.utf8.count == 32)
        #expect(body["timestamp"] == .integer(scene.clock.now.seconds * 1000))
        #expect(body.members?.count == 3)
    }

    @Test("The resource of its settings shows the key's identifier, and nothing of the key")
    func config() async throws {
        let scene = try DeviceCheckScene()
        let call = Call(
            "getDeviceCheckConfig", resource: DeviceCheckScene.app,
            credentials: BearerToken(DeviceCheckScene.administrator))
        #expect(
            try await scene.engine.handle(call).result.get() == [
                "name": "projects/1234567890/apps/1:1234567890:ios:321abc456def7890/deviceCheckConfig",
                "tokenTtl": "3600s", "keyId": "SIMULATED1", "privateKeySet": true,
            ])
    }
}
