import AssayCore
import AssayEngine
import AssayKit
import AssayPlayIntegrity
import AssayTesting
import Testing

@Suite("The three bits of Google's device recall")
struct PlayBitsTests {
    private static let section = "device_recall: {}"

    private func scene(_ recall: String = section, opening: PlayScene.Opening = .both) throws -> PlayScene {
        try PlayScene(recall, opening: opening)
    }

    /// A token of a device.
    private func token(_ scene: PlayScene, isStandard: Bool = true, of device: String? = "a") async throws -> String {
        let verdict = try await scene.verdict(isStandard: isStandard) { $0.device = device }
        return isStandard ? scene.play.standardToken(verdict) : try scene.play.classicToken(verdict)
    }

    private func update(
        _ scene: PlayScene, _ token: String, _ bits: [(Int, JSON)], as caller: String? = PlayScene.backend
    ) async -> Reply {
        let members = [JSONMember("deviceToken", .string(token))] + bits.map { JSONMember("bit\($0.0)", $0.1) }
        return await scene.engine.call(
            "updatePlayIntegrityBits", PlayScene.app, .object(members), credentials: caller)
    }

    private func read(_ scene: PlayScene, _ token: String, as caller: String? = PlayScene.backend) async -> Reply {
        await scene.engine.call(
            "readPlayIntegrityBits", PlayScene.app, ["deviceToken": .string(token)], credentials: caller)
    }

    private func written(_ scene: PlayScene) -> [OutboundRequest] {
        scene.play.requests.filter { $0.url.path.hasSuffix("/deviceRecall:write") }
    }

    @Test("A bit that was set is in later tokens of the device alone, whoever opens them; another bit stays")
    func setting() async throws {
        let scene = try scene()
        #expect(try await read(scene, token(scene)).result.get() == [:])
        let reply = await update(scene, try await token(scene, isStandard: false), [(0, true)])
        #expect(try reply.result.get() == [:])
        let record = try #require(scene.engine.record(of: reply))
        #expect(record.facts == [Fact(PlayIntegrityFacts.recallFirst, .bool(true))])
        #expect(record.caller == "backend")
        let first: JSON = ["bit0": true, "bit1": false, "bit2": false, "lastUpdate": "2026-11"]
        for isStandard in [true, false] {
            #expect(try await read(scene, token(scene, isStandard: isStandard)).result.get() == first)
        }
        scene.advance(by: .seconds(31 * 86_400))
        #expect(await update(scene, try await token(scene), [(1, true), (2, true)]).isAccepted)
        #expect(
            try await read(scene, token(scene)).result.get()
                == ["bit0": true, "bit1": true, "bit2": true, "lastUpdate": "2026-12"])
        #expect(await update(scene, try await token(scene), [(0, false), (1, false), (2, false)]).isAccepted)
        #expect(
            try await read(scene, token(scene)).result.get() == ["bit0": false, "bit1": false, "bit2": false])
        #expect(try await read(scene, token(scene, of: "b")).result.get() == [:])
        let requests = written(scene)
        #expect(
            requests.allSatisfy {
                $0.url.text == "https://playintegrity.googleapis.com/v1/com.example.app/deviceRecall:write"
                    && $0.header("Authorization")?.hasPrefix("Bearer ya29.") == true
            })
        #expect(try JSON.parse(requests[1].body)["newValues"] == ["bitSecond": true, "bitThird": true])
    }

    @Test("To read bits uses no challenge up, and is on record with all that the token says")
    func reading() async throws {
        let scene = try scene()
        let token = try await token(scene, isStandard: false)
        let reply = await read(scene, token)
        let facts = scene.engine.record(of: reply)?.facts ?? []
        #expect(facts.contains(Fact(PlayIntegrityFacts.openedBy, .text("assay"))))
        #expect(await scene.send(token).isAccepted)
        // Two weeks, as Google.
        scene.advance(by: .seconds(13 * 86_400))
        #expect(await read(scene, token).isAccepted)
        scene.advance(by: .seconds(2 * 86_400))
        let late = await read(scene, token).failure
        #expect(late?.reason == PlayIntegrityReasons.bitsRefused)
        #expect(late?.detail?.hasPrefix("play_token_too_old: ") == true)
    }

    /// What a policy refuses, what was set (nil: nothing), and whether the device is refused.
    static let rules: [(String, [Bool]?, Bool)] = [
        ("bit0: true", nil, false), ("bit0: false", nil, false), ("bit0: true", [true, false, false], true),
        ("bit0: true", [false, true, true], false), ("bit2: true", [false, false, true], true),
        ("bit0: true, bit2: true", [true, true, false], false), ("bit0: true, bit2: true", [true, true, true], true),
        ("bit0: false, bit1: true", [false, true, false], true),
    ]

    @Test("A policy refuses devices for their bits, in the form of DeviceCheck", arguments: rules)
    func rule(_ rule: String, _ bits: [Bool]?, _ isRefused: Bool) async throws {
        let scene = try scene("device_recall: {refuse_when: {\(rule)}}")
        if let bits {
            let change = bits.enumerated().map { ($0.offset, JSON.bool($0.element)) }
            #expect(await update(scene, try await token(scene), change).isAccepted)
        }
        let reply = await scene.send(try await token(scene))
        #expect(reply.failure?.reason == (isRefused ? PlayIntegrityReasons.recall : nil))
        let facts = scene.engine.record(of: reply)?.facts ?? []
        #expect(facts.contains { $0.name == PlayIntegrityFacts.recallUpdated } == (bits?.contains(true) ?? false))
        guard isRefused else { return }
        #expect(scene.engine.record(of: reply)?.detail?.hasSuffix(", and the policy refuses \(rule)") == true)
        // The way back.
        let change = [(0, JSON.bool(!rule.contains("bit0: true"))), (1, false), (2, false)]
        #expect(await update(scene, try await token(scene), change).isAccepted)
        let isFree = await scene.send(try await token(scene)).isAccepted
        #expect(isFree)
    }

    @Test("A rule without a bit is refused when policies are loaded")
    func emptyRule() {
        #expect(throws: (any Error).self) { try scene("device_recall: {refuse_when: {}}") }
    }

    @Test("Who has no permission learns nothing, and Google hears nothing")
    func permission() async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        for (caller, status) in [(nil, .unauthenticated), (PlayScene.stranger, .permissionDenied)]
            as [(String?, StatusCode)]
        {
            #expect(await update(scene, token, [(0, true)], as: caller).failure?.status == status)
            #expect(await read(scene, token, as: caller).failure?.status == status)
        }
        #expect(scene.play.requests.isEmpty)
    }

    @Test("Without the section nobody reads or sets bits; to set them, an account is needed")
    func settings() async throws {
        let closed = try scene("", opening: .both)
        for reply in [
            await read(closed, try await token(closed)), await update(closed, try await token(closed), [(0, true)]),
        ] {
            #expect(reply.failure?.status == .failedPrecondition)
            #expect(reply.failure?.message == "The app's section `play_integrity` has no `device_recall`.")
        }
        #expect(closed.play.requests.isEmpty)
        let local = try scene(opening: .here)
        #expect(await read(local, try await token(local, isStandard: false)).isAccepted)
        let reply = await update(local, try await token(local, isStandard: false), [(0, true)])
        #expect(reply.failure?.status == .failedPrecondition)
        #expect(reply.failure?.message.contains("needs a `service_account`") == true)
        #expect(
            await read(local, try await token(local)).failure?.detail == PlayIntegrityReasons.needsGoogle.code)
    }

    @Test("A change that says nothing, or of no token, is the caller's mistake")
    func mistakes() async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        for (text, bits) in [
            (token, []), (token, [(0, "true")]), (token, [(0, .null)]), (token, [(3, true)]), ("!", [(0, true)]),
            ("a.b.c", [(0, true)]), (String(repeating: "A", count: 65_537), [(0, true)]),
        ] as [(String, [(Int, JSON)])] {
            #expect(await update(scene, text, bits).failure?.status == .invalidArgument)
        }
        #expect(scene.play.requests.isEmpty)
    }

    @Test("A token that was used, is older than two weeks or of another package is refused, and the caller told so")
    func notAccepted() async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        #expect(await update(scene, token, [(0, true)]).isAccepted)
        let late = try await self.token(scene)
        let other = scene.play.standardToken(
            try await scene.verdict(isStandard: true) { ($0.requestPackage, $0.device) = ("com.example.other", "a") })
        for (index, token) in [token, other, String(repeating: "A", count: 300), late].enumerated() {
            if index == 3 { scene.advance(by: .seconds(15 * 86_400)) }
            let reply = await update(scene, token, [(1, true)])
            #expect(reply.failure?.status == .invalidArgument)
            #expect(reply.failure?.reason == PlayIntegrityReasons.bitsRefused)
            #expect(reply.failure?.message == "The device token was not accepted.")
            #expect(reply.failure?.detail == "play_token_refused: The simulated server says no.")
        }
        #expect(
            try await read(scene, self.token(scene)).result.get()
                == ["bit0": true, "bit1": false, "bit2": false, "lastUpdate": "2026-11"])
    }

    /// What else a token may be that is read.
    static let others: [(@Sendable (inout SimulatedPlayVerdict) -> Void, Reason)] = [
        ({ $0.requestPackage = "com.example.other" }, PlayIntegrityReasons.packageMismatch),
        ({ $0.isTesting = true }, PlayIntegrityReasons.testing),
        ({ $0.made = $0.made + .seconds(90) }, PlayIntegrityReasons.tokenInFuture),
    ]

    @Test("A token that is not of the app or not of now tells no bits", arguments: others)
    func unreadable(_ change: @Sendable (inout SimulatedPlayVerdict) -> Void, _ reason: Reason) async throws {
        let scene = try scene()
        let reply = await read(scene, try scene.play.classicToken(try await scene.verdict(change)))
        #expect(reply.failure?.status == .invalidArgument)
        #expect(reply.failure?.reason == PlayIntegrityReasons.bitsRefused)
        #expect(reply.failure?.detail?.hasPrefix(reason.code) == true)
    }

    @Test("An app that Google does not admit to device recall is told so, and the account is not blamed")
    func notAdmitted() async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        #expect(await read(scene, token).isAccepted)
        scene.play.script([.respond(SimulatedPlayService.error(403, "PERMISSION_DENIED"))])
        let reply = await update(scene, token, [(0, true)])
        #expect(reply.failure?.status == .failedPrecondition)
        #expect(reply.failure?.message == "Google does not let this app set bits of devices.")
        #expect(reply.failure?.detail == "The simulated server says no.")
        #expect(await scene.engine.engine.readiness == .ready)
    }

    /// What Google answers, and what is on record: nobody knows whether the bits are set.
    static let answers: [(ScriptedAnswer, String)] = [
        (.respond(OutboundResponse(status: 200)), "upstream_malformed"),
        (.respond(OutboundResponse(status: 200, body: Array("[]".utf8))), "upstream_malformed"),
        (.respond(OutboundResponse(status: 204)), "upstream_unexpected_status"),
        (.respond(SimulatedPlayService.error(400, "FAILED_PRECONDITION")), "upstream_request_refused"),
        (.respond(SimulatedPlayService.error(404, "NOT_FOUND")), "upstream_unexpected_status"),
        (.respond(SimulatedPlayService.error(429, "RESOURCE_EXHAUSTED")), "upstream_throttled"),
        (
            .respond(OutboundResponse(status: 503, headers: [OutboundHeader("Retry-After", "60")])),
            "upstream_unavailable"
        ),
        (.hangUp, "upstream_interrupted"),
    ]

    @Test("An answer that does not say whether bits were set is told as such", arguments: answers)
    func undecided(_ answer: ScriptedAnswer, _ expected: String) async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        #expect(await read(scene, token).isAccepted)
        scene.play.script([answer])
        let reply = await update(scene, token, [(0, true)])
        #expect(reply.failure?.status == .unavailable)
        let detail = scene.engine.record(of: reply)?.detail ?? ""
        #expect(detail.hasPrefix(expected), "\(detail)")
        #expect(!detail.contains(token.prefix(16)))
        #expect(written(scene).count == 1)
    }

    @Test("A server that fails is asked at most three times for one change, and after five failures not at all")
    func circuit() async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        #expect(await read(scene, token).isAccepted)
        let failure = ScriptedAnswer.respond(SimulatedPlayService.error(500, "INTERNAL"))
        scene.play.script(Array(repeating: failure, count: 5))
        for _ in 0..<2 {
            let reply = await scene.withoutWaiting { await update(scene, token, [(0, true)]) }
            #expect(reply.failure?.status == .unavailable)
            #expect(written(scene).count <= 6)
        }
        let asked = written(scene).count
        #expect(asked == 5)
        let reply = await update(scene, token, [(0, true)])
        #expect(scene.engine.record(of: reply)?.detail?.hasPrefix("upstream_circuit_open") == true)
        #expect(written(scene).count == asked)
        scene.advance(by: .seconds(60))
        #expect(await update(scene, try await self.token(scene), [(0, true)]).isAccepted)
    }

    @Test("A server that does not answer ends the call in time")
    func silence() async throws {
        let scene = try scene(opening: .google)
        let token = try await token(scene)
        #expect(await read(scene, token).isAccepted)
        scene.play.script([.silence])
        let reply = await scene.withoutWaiting { await update(scene, token, [(0, true)]) }
        #expect(reply.failure?.status == .unavailable)
    }
}
