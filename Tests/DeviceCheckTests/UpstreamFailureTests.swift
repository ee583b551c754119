import AssayCore
import AssayDeviceCheck
import AssayKit
import AssayTesting
import Testing

private func words(_ status: Int, _ text: String = "", retryAfter: String? = nil) -> ScriptedAnswer {
    .respond(
        OutboundResponse(
            status: status, headers: retryAfter.map { [OutboundHeader("Retry-After", $0)] } ?? [],
            body: Array(text.utf8)))
}

/// What Apple answers for as long as it is asked, what that is, how often it is asked, and when the client may come back.
private let outcomes: [(ScriptedAnswer, UpstreamFailure.Kind, Int, Int64)] = [
    (words(400, "Missing or incorrectly formatted timestamp"), .requestRefused, 1, 5),
    (words(400), .requestRefused, 1, 5),
    (words(401, "Unable to verify authorization token"), .unauthorized, 1, 5), (words(403), .unauthorized, 1, 5),
    (words(429), .throttled, 1, 5), (words(429, retryAfter: "60"), .throttled, 1, 60),
    (words(429, retryAfter: "99999999"), .throttled, 1, 60),
    (words(429, retryAfter: "Sat, 21 Nov 2026 12:00:30 GMT"), .throttled, 1, 30),
    (words(500), .unavailable, 3, 5), (words(503, retryAfter: "120"), .unavailable, 1, 120),
    (words(503, retryAfter: "1"), .unavailable, 3, 1), (words(503, retryAfter: "-1"), .unavailable, 3, 5),
    (words(302), .unexpectedStatus, 1, 5), (words(404), .unexpectedStatus, 1, 5), (words(204), .unexpectedStatus, 1, 5),
    (words(200, "hello"), .malformed, 1, 5), (words(200, "{}"), .malformed, 1, 5),
    (words(200, String(repeating: " ", count: 4097)), .tooLarge, 1, 5),
    (.silence, .timedOut, 1, 5), (.stall(OutboundResponse(status: 200)), .timedOut, 1, 5),
    (.hangUp, .interrupted, 1, 5),
]

@Suite("Answers that decide nothing about a device token", .timeLimit(.minutes(20)))
struct UpstreamFailureTests {
    @Test("None is a token or a refusal: the client is told when to come back", arguments: outcomes)
    func outcome(
        _ answer: ScriptedAnswer, _ kind: UpstreamFailure.Kind, _ tries: Int, _ seconds: Int64
    ) async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script(Array(repeating: answer, count: 5))
        let failure = try #require(await scene.exchangeWithoutWaiting().failure)
        #expect(failure.status == .unavailable)
        #expect(failure.reason == nil)
        #expect(failure.retryAfter == .seconds(seconds))
        #expect(failure.detail?.hasPrefix(kind.rawValue) == true)
        #expect(scene.questions.count == tries)
        #expect(Set(scene.apple.requests.compactMap { try? JSON.parse($0.body)["transaction_id"] }).count == 1)
        // The same token is good when Apple is back.
        scene.apple.forgetScript()
        scene.clock.advance(by: .seconds(3600))
        #expect(await scene.exchange().failure == nil)
    }

    @Test("What passes in a moment is not noticed", arguments: [words(500), words(503, retryAfter: "1")])
    func retries(_ answer: ScriptedAnswer) async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script([answer, answer])
        #expect(await scene.exchangeWithoutWaiting().failure == nil)
        #expect(scene.questions.count == 3)
    }

    @Test("A token of the team's key that Apple does not take is made anew, once")
    func credentials() async throws {
        let scene = try DeviceCheckScene()
        #expect(await scene.exchange().failure == nil)
        scene.clock.advance(by: .seconds(60))
        let refusal = words(401, "Unable to verify authorization token")
        scene.apple.script([refusal])
        #expect(await scene.exchange(DeviceCheckScene.token("b")).failure == nil)
        let shown = scene.apple.requests.compactMap { $0.header("authorization") }
        #expect(shown.count == 3)
        #expect(shown[0] == shown[1] && shown[1] != shown[2])
        // A new one that is not taken either is not made anew again.
        scene.apple.script([refusal])
        let failure = await scene.exchange(DeviceCheckScene.token("c")).failure
        #expect(failure?.status == .unavailable)
        // The words of the answer are on record although another credential was looked for.
        #expect(failure?.detail == "upstream_unauthorized: Unable to verify authorization token")
        #expect(scene.questions.count == 4)
    }

    @Test("A token that is refused after a failed try is not called bad: that try may have used it up")
    func ambiguous() async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script([words(500), words(400, "Missing or incorrectly formatted device token payload")])
        let failure = await scene.exchangeWithoutWaiting().failure
        #expect(failure?.status == .unavailable)
        #expect(failure?.detail?.hasPrefix("upstream_ambiguous") == true)
    }

    @Test("Who asks to be left alone is, for as long as it asks")
    func pause() async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script([words(429, retryAfter: "60")])
        _ = await scene.exchange()
        scene.clock.advance(by: .seconds(59))
        #expect(await scene.exchange().failure?.retryAfter == .seconds(1))
        #expect(scene.questions.count == 1)
        scene.clock.advance(by: .seconds(1))
        #expect(await scene.exchange().failure == nil)
    }

    @Test("What an upstream says that repeats a secret is not put on record")
    func echo() async throws {
        let scene = try DeviceCheckScene()
        guard case .string(let token) = DeviceCheckScene.token() else { return }
        for text in ["no: \(token)", String(repeating: "-", count: 180) + token] {
            scene.apple.script([words(400, text)])
            #expect(await scene.exchange().failure?.detail == "upstream_request_refused: it repeats the request")
        }
        scene.apple.script([words(400, "device token \(token)")])
        #expect(await scene.exchange().failure?.detail == "it repeats the request")
    }

    @Test("A server that fails five times is left alone for half a minute, then asked once")
    func breaker() async throws {
        let scene = try DeviceCheckScene()
        for number in 0..<5 {
            scene.apple.script([words(503, retryAfter: "60")])
            #expect(await scene.exchange(DeviceCheckScene.token("\(number)")).failure?.retryAfter == .seconds(60))
        }
        let refused = await scene.exchange().failure
        #expect(refused?.detail == "upstream_circuit_open")
        #expect(refused?.retryAfter == .seconds(30))
        #expect(scene.questions.count == 5)
        scene.clock.advance(by: .seconds(30))
        #expect(await scene.exchange().failure == nil)
        #expect(await scene.exchange(DeviceCheckScene.token("b")).failure == nil)
    }

    @Test(
        "One app's refused requests leave the breaker closed for the others",
        arguments: [words(401), words(429, retryAfter: "60"), words(400, "Missing or incorrectly formatted timestamp")])
    func ownFaults(_ answer: ScriptedAnswer) async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script(Array(repeating: answer, count: 20))
        for number in 0..<10 {
            let failure = await scene.exchange(DeviceCheckScene.token("\(number)")).failure
            #expect(failure?.detail?.hasPrefix("upstream_circuit_open") == false)
        }
    }

    @Test("No more than 32 questions of one peer are on their way at once; one more waits for two seconds")
    func crowd() async throws {
        let scene = try DeviceCheckScene()
        scene.apple.script(Array(repeating: .silence, count: 32))
        await withTaskGroup(of: CallFailure?.self) { group in
            for number in 0..<32 {
                group.addTask { await scene.exchange(DeviceCheckScene.token("\(number)")).failure }
            }
            // Each sleeps for its deadline and for its answer, or for a place.
            await scene.clock.waitForSleepers(33)
            group.addTask { await scene.exchange().failure }
            await scene.clock.waitForSleepers(34)
            // The places of others are free.
            let other = await scene.exchange(for: DeviceCheckScene.secondApp).failure
            #expect(other == nil)
            scene.clock.advance(by: .seconds(2))
            let failure = await group.next().flatMap { $0 }
            #expect(failure?.detail == "upstream_crowded")
            #expect(failure?.retryAfter == .seconds(1))
            group.cancelAll()
        }
        #expect(scene.questions.count == 33)
        #expect(await scene.exchange(DeviceCheckScene.token("z")).failure == nil)
    }

    @Test("Without a way to call others, nothing is decided")
    func noClient() async throws {
        let failure = await (try DeviceCheckScene(http: NoOutboundHTTP())).exchange().failure
        #expect(failure?.status == .unavailable)
        #expect(failure?.detail?.hasPrefix("upstream_not_sent") == true)
    }
}
