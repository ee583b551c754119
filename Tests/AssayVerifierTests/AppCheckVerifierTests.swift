import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
@testable import AssayVerifier
import Testing

private let demands: [(JSON, String)] = [
    (["sub": "1:1234567890:ios:0000000000000002"], "token_app_unknown"),
    (["provider": "debug", "development": true], "token_for_development"),
    (["provider": "simulator", "development": true], "token_for_development"),
    (["development": "yes"], "token_malformed"), (["iss": "https://example.com/"], "token_issuer"),
    (["aud": ["projects/other"]], "token_audience"), (["exp": 1], "token_expired"),
    (["iat": 99_999_999_999], "token_not_yet_valid"), (["jti": nil], "token_malformed"),
]

@Suite("Verifying tokens in a backend", .timeLimit(.minutes(20)))
struct AppCheckVerifierTests {
    @Test("Good tokens are verified, with keys that are fetched once for all", arguments: [0, 100])
    func good(_ cacheLimit: Int) async throws {
        let key = try TestKey()
        let scene = try VerifierScene([TestKey.document(key)], cacheLimit: cacheLimit)
        let token = try key.token(at: scene.clock.now)
        try await withThrowingTaskGroup(of: String?.self) { group in
            for _ in 0..<50 { group.addTask { try await scene.reason(token) } }
            for try await reason in group { #expect(reason == nil) }
        }
        #expect(scene.http.requests.map(\.url) == [VerifierScene.url])
        guard case .verified(let verified) = try await scene.verifier.verify(token) else { return }
        #expect(verified.subject == VerifierScene.app)
    }

    @Test("Each demand has its own reason, also for tokens that are shown again", arguments: demands)
    func refused(_ claims: JSON, _ expected: String) async throws {
        let key = try TestKey()
        let scene = try VerifierScene([TestKey.document(key)], cacheLimit: 100) {
            $0.apps = [ExactText(VerifierScene.app)]
        }
        let token = try key.token(at: scene.clock.now, claims)
        for _ in 0..<2 { #expect(try await scene.reason(token) == expected) }
    }

    @Test("Providers can be named, and tokens that do not say theirs are taken only where none is")
    func providers() async throws {
        let key = try TestKey()
        let any = try VerifierScene([TestKey.document(key)])
        #expect(try await any.reason(try key.token(at: any.clock.now, ["provider": nil])) == nil)
        let some = try VerifierScene([TestKey.document(key)]) { $0.providers = ["debug", "simulator"] }
        for provider: JSON in ["debug", "simulator"] {
            let token = try key.token(at: some.clock.now, ["provider": provider, "development": true])
            #expect(try await some.reason(token) == nil)
        }
        for provider: JSON in [nil, "app_attest"] {
            let token = try key.token(at: some.clock.now, ["provider": provider])
            #expect(try await some.reason(token) == "token_provider_not_allowed")
        }
    }

    @Test("What is no token is refused without a question for keys")
    func noToken() async throws {
        let scene = try VerifierScene([])
        #expect(try await scene.reason(nil) == "token_missing")
        #expect(try await scene.reason("") == "token_missing")
        #expect(try await scene.reason(TokenVerifier.placeholder) == "token_placeholder")
        #expect(try await scene.reason(String(repeating: "a", count: 20_000)) == "token_malformed")
        #expect(scene.http.requests.isEmpty)
    }

    @Test("A remembered token is judged by the time whenever it is shown", arguments: [0, 100])
    func time(_ cacheLimit: Int) async throws {
        let key = try TestKey()
        let scene = try VerifierScene([TestKey.document(key, age: 86_400)], cacheLimit: cacheLimit) {
            $0.maximumAge = .seconds(600)
        }
        let short = try key.token(at: scene.clock.now, ["exp": .integer(scene.clock.now.seconds + 300)])
        let long = try key.token(at: scene.clock.now)
        for token in [short, long] { #expect(try await scene.reason(token) == nil) }
        scene.clock.advance(by: .seconds(-31))
        #expect(try await scene.reason(long) == "token_not_yet_valid")
        scene.clock.advance(by: .seconds(331))
        #expect(try await scene.reason(short) == "token_expired")
        #expect(try await scene.reason(long) == nil)
        // As with consumers: at the very age it is still taken.
        scene.clock.advance(by: .seconds(300))
        #expect(try await scene.reason(long) == nil)
        scene.clock.advance(by: .milliseconds(1))
        #expect(try await scene.reason(long) == "token_too_old")
    }

    @Test("A token is forgotten with its key, and kept when a key is added", arguments: [true, false])
    func revocation(_ isRevoked: Bool) async throws {
        let (one, two) = (try TestKey("one"), try TestKey("two"))
        let scene = try VerifierScene(
            [
                TestKey.document(one, age: 600),
                isRevoked ? TestKey.document(two, age: 600) : TestKey.document(one, two, age: 600),
            ], cacheLimit: 100)
        let token = try one.token(at: scene.clock.now)
        #expect(try await scene.reason(token) == nil)
        scene.clock.advance(by: .seconds(600))
        #expect(try await scene.reason(token) == (isRevoked ? "token_key_unknown" : nil))
        #expect(try await scene.reason(try two.token(at: scene.clock.now)) == nil)
        #expect(scene.http.requests.count == 2)
    }

    @Test("A token with an unknown key makes the keys be fetched at once, but not twice in 30 seconds")
    func unknownKey() async throws {
        let (one, two) = (try TestKey("one"), try TestKey("two"))
        let scene = try VerifierScene([TestKey.document(one), TestKey.document(one, two)])
        #expect(try await scene.reason(try one.token(at: scene.clock.now)) == nil)
        for _ in 0..<5 { #expect(try await scene.reason(try two.token(at: scene.clock.now)) == "token_key_unknown") }
        #expect(scene.http.requests.count == 1)
        scene.clock.advance(by: .seconds(30))
        let token = try two.token(at: scene.clock.now)
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<20 { group.addTask { try? await scene.reason(token) ?? "good" } }
            for await reason in group { #expect(reason == "good") }
        }
        #expect(scene.http.requests.count == 2)
    }

    @Test("Of many that show a token with a new key at once, none is refused by the keys of before")
    func newKeyAtOnce() async throws {
        let (one, two) = (try TestKey("one"), try TestKey("two"))
        for _ in 0..<50 {
            let scene = try VerifierScene([TestKey.document(one), TestKey.document(one, two)])
            let start = scene.clock.now
            #expect(try await scene.reason(try one.token(at: start)) == nil)
            scene.clock.advance(by: .seconds(30))
            let token = try two.token(at: scene.clock.now)
            await withTaskGroup(of: String?.self) { group in
                for _ in 0..<40 { group.addTask { try? await scene.reason(token) ?? "good" } }
                for await reason in group { #expect(reason == "good") }
            }
        }
    }

    @Test("Keys are asked for with their tag, and 304 keeps them")
    func notModified() async throws {
        let key = try TestKey()
        let scene = try VerifierScene([
            TestKey.document(key, age: 600, tag: "\"v1\""), .success(OutboundResponse(status: 304)),
        ])
        #expect(try await scene.reason(try key.token(at: scene.clock.now)) == nil)
        scene.clock.advance(by: .seconds(600))
        #expect(try await scene.reason(try key.token(at: scene.clock.now)) == nil)
        #expect(scene.http.requests.map { $0.header("if-none-match") } == [nil, "\"v1\""])
        scene.clock.advance(by: .seconds(3599))
        #expect(try await scene.reason(try key.token(at: scene.clock.now)) == nil)
        #expect(scene.http.requests.count == 2)
    }

    @Test("Old keys stay in use for a day when there are no newer ones, and after that nothing is decided")
    func stale() async throws {
        let key = try TestKey()
        let scene = try VerifierScene([TestKey.document(key, age: 600)])
        #expect(try await scene.reason(try key.token(at: scene.clock.now)) == nil)
        scene.clock.advance(by: .seconds(86_400 + 599))
        #expect(try await scene.reason(try key.token(at: scene.clock.now)) == nil)
        scene.clock.advance(by: .seconds(1))
        let token = try key.token(at: scene.clock.now)
        await #expect(throws: KeysUnavailable.self) { try await scene.verifier.verify(token) }
        scene.http.add(TestKey.document(key))
        scene.clock.advance(by: .seconds(30))
        #expect(try await scene.reason(token) == nil)
    }

    @Test("Without keys nothing is decided, and the server is asked every 30 seconds at most")
    func never() async throws {
        let key = try TestKey()
        let scene = try VerifierScene([TestKey.unreachable, .success(OutboundResponse(status: 200, body: [0x7B]))])
        let token = try key.token(at: scene.clock.now)
        for _ in 0..<3 { await #expect(throws: KeysUnavailable.self) { try await scene.verifier.verify(token) } }
        #expect(scene.http.requests.count == 1)
        scene.clock.advance(by: .seconds(30))
        await #expect(throws: KeysUnavailable.self) { try await scene.verifier.verify(token) }
        #expect(scene.http.requests.count == 2)
    }

    @Test(
        """
        Beside the requests, keys are fetched when four fifths of their time have passed, and every 30 seconds after failures
        """)
    func background() async throws {
        let key = try TestKey()
        let scene = try VerifierScene([
            TestKey.document(key, age: 1000), TestKey.unreachable, TestKey.document(key, age: 1000),
        ])
        func settle(_ count: Int) async {
            while scene.http.requests.count < count || scene.clock.sleeperCount == 0 { await Task.yield() }
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await scene.verifier.keepKeysFresh() }
            await settle(1)
            scene.clock.advance(by: .seconds(799))
            #expect(scene.clock.sleeperCount == 1)
            #expect(scene.http.requests.count == 1)
            scene.clock.advance(by: .seconds(1))
            await settle(2)
            scene.clock.advance(by: .seconds(30))
            await settle(3)
            group.cancelAll()
        }
        #expect(try await scene.reason(try key.token(at: scene.clock.now)) == nil)
        #expect(scene.http.requests.count == 3)
    }

    @Test("Of more tokens than it may hold, the cache forgets those that are not shown")
    func bound() {
        let cache = VerifiedTokenCache(limit: 100)
        let token = VerifiedToken(
            subject: "a", audience: [], provider: nil, issuer: "b", expires: Instant(seconds: 1),
            issued: Instant(seconds: 0), id: "c")
        let favourite = TokenDigest(of: "favourite")
        cache.insert(token, favourite)
        for number in 0..<1000 {
            cache.insert(token, TokenDigest(of: "\(number)"))
            #expect(cache.token(favourite) == token)
            #expect(cache.count <= 100)
        }
        #expect(cache.token(TokenDigest(of: "1")) == nil)
        #expect(cache.token(TokenDigest(of: "999")) == token)
    }
}
