import AssayCore
import AssayCrypto
import AssayEngine
import AssayHTTP
import AssayKit
import AssayPrivacyPass
import AssayTesting
import Logging
import Testing

@Suite("Privacy Pass: tokens that are accepted")
struct PrivacyPassTests {
    private let scene: PrivacyPassScene

    init() throws { scene = try PrivacyPassScene() }

    @Test("A token for a challenge is good once, and its issuer and key are on record")
    func perChallenge() async throws {
        let (challenge, context) = try await scene.challenge()
        let token = try scene.issuer.token(for: scene.tokenChallenge(context))
        let reply = await scene.exchange(token, challenge)
        #expect(try reply.result.get()["token"]?.string != nil)
        let facts = scene.engine.record(of: reply)?.facts ?? []
        #expect(facts.contains(Fact(.privacyPassIssuer, .text("issuer.example.com"))))
        #expect(facts.contains(Fact(.privacyPassKey, .text(Hex.encode(SHA256.hash(scene.issuer.tokenKey))))))
        #expect(await scene.exchange(token, challenge).status != nil)
        // Also with another token for the same challenge.
        #expect(
            await scene.exchange(try scene.issuer.token(for: scene.tokenChallenge(context)), challenge).status != nil)
    }

    @Test("A token that a client kept is good once, in all apps together")
    func cached() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        #expect(try await scene.spend(token).result.get()["token"]?.string != nil)
        #expect(await scene.spend(token).reason == PrivacyPassReasons.used)
        #expect(await scene.spend(token, at: PrivacyPassScene.otherSite).reason == PrivacyPassReasons.used)
        scene.engine.clock.advance(by: .seconds(400 * 86_400))
        #expect(await scene.spend(token).reason == PrivacyPassReasons.used)
    }

    @Test("An issuer's key in a file is the same key, also without the parameters of blind signatures")
    func derivedKey() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        #expect(
            try await scene.spend(token, at: PrivacyPassScene.otherSite).result.get()["token"]?.string != nil)
        #expect(await scene.spend(token).reason == PrivacyPassReasons.used)
    }

    @Test("Of concurrent exchanges with one token, one gets a token")
    func concurrent() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<16 { group.addTask { await scene.spend(token).status == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(accepted == 1)
    }

    @Test("A request without a token is answered with the challenges, and its own challenge stays good")
    func missing() async throws {
        let (challenge, context) = try await scene.challenge()
        let reply = await scene.engine.call("exchangePrivacyPassToken", PrivacyPassScene.site, ["challenge": challenge])
        guard case .failure(let failure) = reply.result else { throw CallFailure(.internalError, "it was answered") }
        #expect(failure.status == .unauthenticated && failure.reason == PrivacyPassReasons.missing)
        // The former issuer's key has ended.
        let wanted = SimulatedTokenText.padded(scene.tokenChallenge(context))
        let key = SimulatedTokenText.padded(scene.issuer.tokenKey)
        #expect(
            failure.metadata == [
                .init("www-authenticate", "PrivateToken challenge=\"\(wanted)\", token-key=\"\(key)\"")
            ])
        let token = try scene.issuer.token(for: scene.tokenChallenge(context))
        #expect(await scene.exchange(token, challenge).status == nil)
    }

    @Test("The header of RFC 9577 carries the token over HTTP, and the answer without it the challenge")
    func overHTTP() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let gateway = try HTTPGateway(handler: scene.engine.engine, logger: logger)
        func post(_ headers: [(name: String, value: String)]) async -> HTTPReply {
            await gateway.reply(
                to: GatewayRequest(
                    method: "POST", target: "/v1/\(PrivacyPassScene.site):exchangeCachedPrivacyPassToken",
                    headers: HeaderFields(headers), body: Array("{}".utf8)), peer: "192.0.2.1")
        }
        let first = await post([])
        #expect(first.status.code == 401)
        let wanted = first.headers.filter { $0.name == "www-authenticate" }.map(\.value)
        #expect(wanted.count == 1)
        #expect(wanted.first?.hasPrefix("PrivateToken challenge=\"AAIA") == true)
        let token = SimulatedTokenText.authorization(try scene.issuer.token(for: scene.tokenChallenge()))
        #expect(await post([("authorization", token)]).status.code == 200)
        #expect(await post([("authorization", token)]).status.code == 401)
        #expect(await post([("authorization", "Bearer something")]).status.code == 401)
    }

    @Test("Spellings of the credentials", arguments: [true, false])
    func spellings(_ isPadded: Bool) async throws {
        for prefix in ["PrivateToken token=", "privatetoken   Token=", "PRIVATETOKEN TOKEN="] {
            let token = try scene.issuer.token(for: scene.tokenChallenge())
            let text = isPadded ? SimulatedTokenText.padded(token) : Base64.encodeURL(token)
            let reply = await scene.engine.call(
                "exchangeCachedPrivacyPassToken", PrivacyPassScene.site,
                ["privateToken": ["Bearer abc", .string("\(prefix)\"\(text)\"")]])
            #expect(reply.status == nil, "\(prefix)")
        }
        for form in [
            "PrivateToken token=VALUE", "PrivateToken\ttoken = \"VALUE\" ",
            "PrivateToken token=VALUE, extensions=\"a,b\"", "PrivateToken x=y ,token=\"VALUE\"",
        ] {
            let token = try scene.issuer.token(for: scene.tokenChallenge())
            let text = isPadded ? SimulatedTokenText.padded(token) : Base64.encodeURL(token)
            let reply = await scene.engine.call(
                "exchangeCachedPrivacyPassToken", PrivacyPassScene.site,
                ["privateToken": .string(form.replacing("VALUE", with: text))])
            #expect(reply.status == nil, "\(form)")
        }
    }

    @Test("A policy for one kind of challenges refuses the other")
    func contexts() async throws {
        let strict = try PrivacyPassScene(contexts: "[per_challenge]")
        #expect(
            await strict.spend(try strict.issuer.token(for: strict.tokenChallenge())).reason
                == PrivacyPassReasons.context)
        let cached = try PrivacyPassScene(contexts: "[none]")
        let (challenge, context) = try await cached.challenge()
        let token = try cached.issuer.token(for: cached.tokenChallenge(context))
        #expect(await cached.exchange(token, challenge).reason == PrivacyPassReasons.context)
        #expect(await cached.spend(token).reason == PrivacyPassReasons.challenge)
    }

    @Test("Without the state store nothing is decided")
    func lostStore() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        scene.engine.store.isFailing = true
        #expect(await scene.spend(token).status == .unavailable)
        scene.engine.store.isFailing = false
        #expect(await scene.spend(token).status == nil)
    }
}
