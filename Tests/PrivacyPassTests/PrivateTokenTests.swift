import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPrivacyPass
import AssayPrivateToken
import AssayTesting
import Testing

@Suite("Private tokens: what the issuer signs")
struct PrivateTokenTests {
    private let scene: PrivacyPassScene

    init() throws { scene = try PrivacyPassScene() }

    private func responses(_ reply: Reply) throws -> [[UInt8]] {
        try (reply.result.get()["tokenResponses"]?.array ?? []).map {
            try #require($0.string.flatMap { Base64.decode($0) })
        }
    }

    @Test("From an attested device to a session token of another project: each private token is good once")
    func circle() async throws {
        let directory = try await scene.engine.call(
            "getPrivateTokenIssuerDirectory", "", ["issuer": .string(scene.issuer.name)]
        ).result.get()
        #expect(directory["issuer-request-uri"]?.string == "/private-tokens")
        let entry = try #require(directory["token-keys"]?.array?.first)
        #expect(entry["token-type"]?.integer == 2 && entry["not-before"]?.integer == 1_767_225_600)
        let tokenKey = try #require(entry["token-key"]?.string.flatMap { Base64.decode($0) })
        #expect(tokenKey == scene.issuer.tokenKey)

        let orders = try scene.orders(3)
        let reply = await scene.issue(orders.map(\.request), token: try await scene.attestedToken())
        let tokens = try zip(orders, responses(reply)).map { try $0.token($1) }
        #expect(tokens.count == 3)
        for token in tokens {
            #expect(try await scene.spend(token).result.get()["token"]?.string != nil)
            #expect(await scene.spend(token).reason == PrivacyPassReasons.used)
        }
        let stranger = try SimulatedTokenIssuer(name: scene.issuer.name)
        #expect(
            await scene.spend(try stranger.token(for: scene.tokenChallenge())).reason == PrivacyPassReasons.keyUnknown)
    }

    @Test("A token for a challenge comes from the same issuer")
    func forChallenge() async throws {
        let (challenge, context) = try await scene.challenge()
        let order = try SimulatedTokenOrder(for: scene.tokenChallenge(context), tokenKey: scene.issuer.tokenKey)
        let reply = await scene.issue([order.request], token: try await scene.attestedToken())
        let token = try order.token(try #require(responses(reply).first))
        #expect(await scene.exchange(token, challenge).status == nil)
    }

    @Test("The record says how many were issued and by which key, and nothing of the messages")
    func record() async throws {
        let orders = try scene.orders(2)
        let reply = await scene.issue(orders.map(\.request), token: try await scene.attestedToken())
        let record = try #require(scene.engine.record(of: reply))
        #expect(record.facts.contains(Fact(.privateTokensIssued, .integer(2))))
        #expect(record.facts.contains(Fact(.privateTokenKey, .text(Hex.encode(SHA256.hash(scene.issuer.tokenKey))))))
        let text = "\(record)"
        for bytes in try orders.map({ Array($0.request.dropFirst(3)) }) + responses(reply) {
            for form in [Base64.encode(bytes), Base64.encodeURL(bytes), Hex.encode(bytes)] {
                #expect(!text.contains(form.prefix(40)))
            }
        }
    }

    @Test("A device gets its batches of a day, and new ones on the next day; another device has its own")
    func quota() async throws {
        let token = try await scene.attestedToken()
        for _ in 0..<2 { #expect(await scene.issue(try scene.orders(4).map(\.request), token: token).status == nil) }
        #expect(await scene.issue(try scene.orders(1).map(\.request), token: token).reason == PrivateTokenReasons.limit)
        let other = try await scene.attestedToken()
        #expect(await scene.issue(try scene.orders(1).map(\.request), token: other).status == nil)
        scene.engine.clock.advance(by: .seconds(86_400))
        let next = try await scene.attestedToken()
        #expect(await scene.issue(try scene.orders(1).map(\.request), token: next).status == nil)
    }

    @Test("Of concurrent requests of a device, as many as its batches are answered")
    func concurrent() async throws {
        let token = try await scene.attestedToken()
        let requests = try scene.orders(1).map(\.request)
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<12 { group.addTask { await scene.issue(requests, token: token).status == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered == 2)
    }

    @Test("Without an App Check token, or one of a device, nothing is signed")
    func callers() async throws {
        let requests = try scene.orders(1).map(\.request)
        #expect(await scene.issue(requests, token: nil).status == .unauthenticated)
        #expect(await scene.issue(requests, token: "x.y.z").status == .unauthenticated)
        func debugToken(_ scene: PrivacyPassScene) async throws -> String {
            let reply = await scene.engine.call(
                "exchangeDebugToken", PrivacyPassScene.phone, ["debugToken": .string(PrivacyPassScene.debugToken)])
            return try #require(reply.result.get()["token"]?.string)
        }
        let refused = await scene.issue(requests, token: try await debugToken(scene))
        #expect(refused.reason == PrivateTokenReasons.deviceUnknown)
        let open = try PrivacyPassScene(issuing: "accept_unbound_tokens: true\ndaily_batches: 1")
        let token = try await debugToken(open)
        #expect(await open.issue(try open.orders(1).map(\.request), token: token).status == nil)
        #expect(await open.issue(try open.orders(1).map(\.request), token: token).reason == PrivateTokenReasons.limit)
        // One of the first project buys no new private tokens.
        let page = "projects/1234567890/apps/1:1234567890:web:00000000000000c1"
        let circular = try await open.spend(open.issuer.token(for: open.tokenChallenge()), at: page).result.get()
        let bought = await open.issue(try open.orders(1).map(\.request), token: circular["token"]?.string)
        #expect(bought.reason == PrivateTokenReasons.deviceUnknown)
        // A private token is no App Check token of the first project.
        let spent = try await open.spend(open.issuer.token(for: open.tokenChallenge())).result.get()["token"]?.string
        #expect(await open.issue(try open.orders(1).map(\.request), token: spent).status != nil)
    }

    @Test("A request that is not as it must be is refused as a whole, and takes no batch")
    func malformed() async throws {
        let token = try await scene.attestedToken()
        let good = try scene.orders(1)[0].request
        func changed(_ index: Int, _ byte: UInt8) -> [UInt8] {
            var request = good
            request[index] = byte
            return request
        }
        let tooLarge = Array(good.prefix(3)) + [UInt8](repeating: 0xFF, count: 256)
        for requests in [
            [], [Array(good.dropLast())], [good + [0]], [changed(0, 1)], [changed(1, 1)], [changed(1, 3)],
            [changed(2, good[2] ^ 1)], [tooLarge], [good, tooLarge], [[UInt8]](repeating: good, count: 5),
            [Array(good.prefix(3))],
        ] {
            #expect(await scene.issue(requests, token: token).status == .invalidArgument)
        }
        for body: JSON in [
            [:], ["tokenRequests": 5], ["tokenRequests": ["%"]], ["tokenRequests": [""]], ["tokenRequests": [5]],
        ] {
            #expect(await scene.engine.call("issuePrivateTokens", "", body, token: token).status == .invalidArgument)
        }
        for _ in 0..<2 { #expect(await scene.issue([good], token: token).status == nil) }
    }

    @Test("Without the state store nothing is signed")
    func lostStore() async throws {
        let token = try await scene.attestedToken()
        scene.engine.store.isFailing = true
        #expect(await scene.issue(try scene.orders(1).map(\.request), token: token).status == .unavailable)
    }

    @Test(
        "Sections with errors are refused at their place",
        arguments: [
            ("batch: 0", "batch"), ("batch: 33", "batch"), ("daily_batches: 0", "daily_batches"),
            ("daily_batches: 9", "daily_batches"), ("request_uri: \"\"", "request_uri"),
            ("request_uri: \"a b\"", "request_uri"),
        ])
    func configuration(_ key: String, _ place: String) {
        #expect { _ = try PrivacyPassScene(issuing: key) } throws: { "\($0)".contains(place) }
    }
}
