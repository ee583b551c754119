import AssayCore
import AssayEngine
import AssayHTTPClient
import AssayKit
import AssayPlayIntegrity
import AssayTesting
import AssayTestingHTTP
import Synchronization
import Testing

@Suite("Google, asked what a token says")
struct PlayUpstreamTests {
    private static func json(_ status: Int, _ body: String) -> ScriptedAnswer {
        .respond(OutboundResponse(status: status, body: Array(body.utf8)))
    }

    private static func error(_ code: Int, _ status: String) -> ScriptedAnswer {
        .respond(SimulatedPlayService.error(code, status))
    }

    /// What the server answers to `decodeIntegrityToken`, and the beginning of what is on record: nothing is decided.
    private static let undecided: [(ScriptedAnswer, String)] = [
        (json(200, ""), "upstream_malformed"), (json(200, "{}"), "upstream_malformed"),
        (json(200, "[]"), "upstream_malformed"), (json(200, #"{"tokenPayloadExternal": 1}"#), "upstream_malformed"),
        (json(200, #"{"tokenPayloadExternal": {}, "tokenPayloadExternal": {}}"#), "upstream_malformed"),
        (json(204, ""), "upstream_unexpected_status"), (json(302, ""), "upstream_unexpected_status"),
        (json(400, "{}"), "upstream_request_refused"), (error(400, "FAILED_PRECONDITION"), "upstream_request_refused"),
        (error(403, "PERMISSION_DENIED"), "upstream_unauthorized"),
        (error(404, "NOT_FOUND"), "upstream_unexpected_status"),
        (error(429, "RESOURCE_EXHAUSTED"), "upstream_throttled"), (error(500, "INTERNAL"), "upstream_unavailable"),
        (
            .respond(OutboundResponse(status: 503, headers: [OutboundHeader("Retry-After", "60")])),
            "upstream_unavailable"
        ),
        (.hangUp, "upstream_interrupted"),
        (.respond(OutboundResponse(status: 200, body: [UInt8](repeating: 0x20, count: 1 << 20))), "upstream_too_large"),
    ]

    @Test("Answers that do not say whether a token is genuine decide nothing", arguments: undecided)
    func decidesNothing(_ answer: ScriptedAnswer, _ expected: String) async throws {
        let scene = try PlayScene(opening: .google)
        // The access token is there already.
        #expect(try await scene.standard().isAccepted)
        let token = scene.play.standardToken(try await scene.verdict(isStandard: true))
        let isUnauthorized = expected == "upstream_unauthorized"
        // After 403, another access token is fetched, and the question put once more.
        scene.play.script(isUnauthorized ? [answer, .proceed, answer] : [answer, answer, answer])
        let reply = await scene.withoutWaiting { await scene.send(token) }
        #expect(reply.failure?.status == .unavailable)
        let detail = scene.engine.record(of: reply)?.detail ?? ""
        #expect(detail.hasPrefix(expected), "\(detail)")
        #expect(!detail.contains(token.prefix(16)))
    }

    /// What the server answers to `/token`.
    private static let grants: [ScriptedAnswer] = [
        json(200, "{}"), json(200, #"{"access_token": "", "expires_in": 3599}"#),
        json(200, #"{"access_token": "a b", "expires_in": 3599}"#),
        json(200, #"{"access_token": "a\r\nX-Other: b", "expires_in": 3599}"#),
        json(200, #"{"access_token": "abc", "expires_in": 0}"#),
        json(200, #"{"access_token": "abc", "expires_in": 3599, "token_type": "mac"}"#),
        json(400, #"{"error": "invalid_grant"}"#), json(401, "{}"), json(429, ""), json(500, ""), .hangUp,
    ]

    @Test("Without an access token nothing is decided", arguments: grants)
    func noAccessToken(_ answer: ScriptedAnswer) async throws {
        let scene = try PlayScene(opening: .google)
        let token = scene.play.standardToken(try await scene.verdict(isStandard: true))
        scene.play.script([answer, answer, answer])
        let reply = await scene.withoutWaiting { await scene.send(token) }
        #expect(reply.failure?.status == .unavailable)
        let detail = scene.engine.record(of: reply)?.detail ?? ""
        #expect(detail.hasPrefix("upstream_unavailable: no access token"), "\(detail)")
        #expect(!scene.play.requests.contains { $0.url.path.hasSuffix("decodeIntegrityToken") })
    }

    @Test("An account that Google does not accept is shown in readiness until Google accepts it")
    func problem() async throws {
        let scene = try PlayScene(opening: .google)
        #expect(try await scene.standard().isAccepted)
        #expect(await scene.engine.engine.readiness == .ready)
        let denied = Self.error(403, "PERMISSION_DENIED")
        scene.play.script([denied, .proceed, denied])
        #expect(try await scene.standard().failure?.status == .unavailable)
        guard case .degraded(let words) = await scene.engine.engine.readiness else {
            Issue.record("a wrong account is not shown")
            return
        }
        #expect(words.contains("playintegrity.googleapis.com does not accept"), "\(words)")
        #expect(try await scene.standard().isAccepted)
        #expect(await scene.engine.engine.readiness == .ready)
    }

    @Test("A key that Google's endpoint for tokens does not accept is shown too")
    func problemOfGrant() async throws {
        let scene = try PlayScene(opening: .google)
        let refused = Self.json(400, #"{"error": "invalid_grant"}"#)
        let token = scene.play.standardToken(try await scene.verdict(isStandard: true))
        scene.play.script([refused, refused, refused])
        #expect(await scene.withoutWaiting { await scene.send(token) }.failure?.status == .unavailable)
        guard case .degraded(let words) = await scene.engine.engine.readiness else {
            Issue.record("a wrong key is not shown")
            return
        }
        #expect(words.contains("oauth2.googleapis.com does not accept"), "\(words)")
    }

    @Test("A server that does not answer decides nothing, within the time of a call")
    func silence() async throws {
        let scene = try PlayScene(opening: .google)
        #expect(try await scene.standard().isAccepted)
        let token = scene.play.standardToken(try await scene.verdict(isStandard: true))
        scene.play.script([.silence])
        let reply = await scene.withoutWaiting { await scene.send(token) }
        #expect(reply.failure?.status == .unavailable)
    }

    @Test("A token that Google does not know is refused, and is not asked about again")
    func unknown() async throws {
        let scene = try PlayScene(opening: .google)
        let token = String(repeating: "A", count: 300)
        let reply = await scene.send(token)
        #expect(reply.failure?.reason == PlayIntegrityReasons.refused)
        #expect(scene.engine.record(of: reply)?.detail == "The simulated server says no.")
        let asked = scene.play.requests.count
        #expect(await scene.send(token).failure?.reason == PlayIntegrityReasons.refused)
        #expect(scene.play.requests.count == asked)
    }

    @Test("A peer that sends junk is not asked about any more, and others are")
    func junk() async throws {
        let scene = try PlayScene(opening: .google)
        var reasons: [Reason?] = []
        for number in 0..<12 {
            let token = String(repeating: "A", count: 300) + "\(number)"
            reasons.append(await scene.send(token, from: "198.51.100.7").failure?.reason)
        }
        #expect(reasons.prefix(10).allSatisfy { $0 == PlayIntegrityReasons.refused })
        #expect(reasons.suffix(2).allSatisfy { $0 == PlayIntegrityReasons.limited })
        #expect(try await scene.standard().isAccepted)
    }

    @Test("One access token serves all requests until it is to be renewed; a refused one is fetched anew once")
    func accessTokens() async throws {
        let scene = try PlayScene(opening: .google)
        func grants() -> Int { scene.play.requests.count { $0.url.path.hasSuffix("/token") } }
        for _ in 0..<3 { #expect(try await scene.standard().isAccepted) }
        #expect(grants() == 1)
        scene.advance(by: .seconds(2900))
        #expect(try await scene.standard().isAccepted)
        #expect(grants() == 1)
        scene.advance(by: .seconds(200))
        #expect(try await scene.standard().isAccepted)
        #expect(grants() == 2)
        scene.play.forgetAccessTokens()
        #expect(try await scene.standard().isAccepted)
        #expect(grants() == 3)
    }

    /// Holds requests for access tokens back until it is opened.
    private final class Gate: OutboundHTTP {
        let play: SimulatedPlayService
        private let state = Mutex(
            (isOpen: false, refuses: false, held: 0, waiting: [AsyncStream<Never>.Continuation]()))

        init(_ play: SimulatedPlayService) { self.play = play }

        var held: Int { state.withLock { $0.held } }

        func open(refusing: Bool) {
            let waiting = state.withLock { state in
                (state.isOpen, state.refuses) = (true, refusing)
                return state.waiting
            }
            for request in waiting { request.finish() }
        }

        func send(_ request: OutboundRequest) async throws(OutboundFailure) -> OutboundResponse {
            if request.url.path.hasSuffix("/token") {
                let (ends, waiting) = AsyncStream.makeStream(of: Never.self)
                state.withLock { state in
                    state.held += 1
                    if state.isOpen { waiting.finish() } else { state.waiting.append(waiting) }
                }
                for await _ in ends {}
                if state.withLock({ $0.refuses }) { return OutboundResponse(status: 401) }
            }
            return try await play.send(request)
        }
    }

    @Test(
        "Concurrent first requests share one fetch of an access token, whether it succeeds or not",
        arguments: [true, false])
    func oneFetch(succeeds: Bool) async throws {
        let play = try SimulatedPlayService(clock: ManualClock().hostClock)
        let gate = Gate(play)
        let scene = try PlayScene(opening: .google, http: gate, secrets: ["ACCOUNT": play.accountFile])
        var tokens: [String] = []
        for _ in 0..<8 { tokens.append(play.standardToken(try await scene.verdict(isStandard: true))) }
        let replies = await withTaskGroup(of: Reply?.self) { group in
            for token in tokens { group.addTask { await scene.send(token) } }
            while gate.held == 0 { await Task.yield() }
            // Time for the others to come as far.
            for _ in 0..<2000 { await Task.yield() }
            #expect(gate.held == 1)
            gate.open(refusing: !succeeds)
            group.addTask { await scene.passTime() }
            var replies: [Reply] = []
            while replies.count < tokens.count, let reply = await group.next() { replies += [reply].compactMap(\.self) }
            group.cancelAll()
            return replies
        }
        #expect(replies.allSatisfy { succeeds ? $0.isAccepted : $0.failure?.status == .unavailable })
        guard !succeeds else {
            #expect(gate.held == 1)
            return
        }
        // What failed is tried again later.
        gate.open(refusing: false)
        scene.advance(by: .seconds(120))
        #expect(await scene.send(play.standardToken(try await scene.verdict(isStandard: true))).isAccepted)
    }

    @Test("Requests are as Google documents them")
    func requests() async throws {
        let scene = try PlayScene(opening: .google)
        let token = scene.play.standardToken(try await scene.verdict(isStandard: true))
        #expect(await scene.send(token).isAccepted)
        let requests = scene.play.requests
        #expect(
            requests.map(\.url.text) == [
                "https://oauth2.googleapis.com/token",
                "https://playintegrity.googleapis.com/v1/com.example.app:decodeIntegrityToken",
            ])
        #expect(requests.allSatisfy { $0.method == .post })
        #expect(try JSON.parse(requests[1].body) == ["integrityToken": .string(token)])
        #expect(requests[1].header("Authorization")?.hasPrefix("Bearer ya29.") == true)
        #expect(requests[1].header("Content-Type") == "application/json")
    }

    @Test("Both endpoints are asked over sockets, as the policy says")
    func sockets() async throws {
        let scene = try PlayScene(opening: .google)
        let client = try HTTPClientService(HTTPClientOptions())
        let reply = try await LocalServer { scene.play.answer($0) }.run { port in
            let remote = try PlayScene(
                "base_url: \"http://localhost:\(port)\"\ntoken_url: \"http://localhost:\(port)/token\"",
                opening: .google, http: client, secrets: ["ACCOUNT": scene.play.accountFile])
            return await remote.send(scene.play.standardToken(try await remote.verdict(isStandard: true)))
        }
        await client.shutDown()
        #expect(reply.isAccepted, "\(reply)")
    }
}
