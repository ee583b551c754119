import AssayCore
import AssayHummingbird
import AssayKit
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Synchronization
import Testing

/// What a request shows, made of a good token, with the status and the reason that it is refused for.
private let refused: [(@Sendable (String) -> [(String, String)], String, Int, String)] = [
    ({ _ in [] }, "/orders", 401, "token_missing"),
    ({ _ in [(AppCheckScene.header, "")] }, "/orders", 401, "token_missing"),
    ({ [(AppCheckScene.header, $0), (AppCheckScene.header, $0)] }, "/orders", 401, "token_repeated"),
    ({ [(AppCheckScene.header, $0), ("x-firebase-appcheck", "other")] }, "/orders", 401, "token_repeated"),
    ({ [(AppCheckScene.header, "\($0),\($0)")] }, "/orders", 401, "token_malformed"),
    ({ [(AppCheckScene.header, $0)] }, "/orders?x-firebase-appcheck=t", 401, "token_in_url"),
    ({ _ in [] }, "/orders?page=2&appCheckToken=t", 401, "token_in_url"),
    ({ [("Authorization", "Bearer \($0)")] }, "/orders", 401, "token_missing"),
    ({ [(AppCheckScene.header, "\($0.dropLast(8))AAAAAAAA")] }, "/orders", 401, "token_signature"),
    ({ _ in [(AppCheckScene.header, "eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==")] }, "/orders", 401, "token_placeholder"),
]

@Suite("Middleware for Hummingbird")
struct AppCheckMiddlewareTests {
    @Test("a request without one good token in its place is refused", arguments: refused.indices)
    func refuses(index: Int) async throws {
        let (fields, uri, status, reason) = refused[index]
        let scene = try AppCheckScene()
        let response = try await scene.send(fields(try scene.token()), to: uri)
        #expect(response.status.code == status)
        #expect(response.headers[.wwwAuthenticate] == "AppCheck realm=\"assay\", error=\"invalid_token\"")
        #expect(response.body.readableBytes == 0)
        #expect(scene.reports == [reason])
    }

    @Test("an expired token is refused")
    func expired() async throws {
        let scene = try AppCheckScene()
        let response = try await scene.send([(AppCheckScene.header, try scene.token(age: 3600))])
        #expect(response.status == .unauthorized)
        #expect(scene.reports == ["token_expired"])
    }

    @Test("an app or a provider that is not taken is forbidden")
    func forbidden() async throws {
        let scene = try AppCheckScene()
        for token in [
            try scene.token(app: "1:1234567890:ios:other"), try scene.token(provider: "debug", isForDevelopment: true),
        ] {
            let response = try await scene.send([(AppCheckScene.header, token)])
            #expect(response.status == .forbidden)
            #expect(response.headers[.wwwAuthenticate] == nil)
        }
        #expect(scene.reports == ["token_app_unknown", "token_for_development"])
    }

    @Test("while there are no keys nothing can be decided, and nothing passes")
    func noKeys() async throws {
        let scene = try AppCheckScene(hasKeys: false)
        let response = try await scene.send([(AppCheckScene.header, try scene.token())])
        #expect(response.status == .serviceUnavailable)
        #expect(scene.reports == ["undecided"])
    }

    @Test("handlers get the verified token")
    func verified() async throws {
        let scene = try AppCheckScene()
        let response = try await scene.send([(AppCheckScene.header, try scene.token())])
        #expect(response.status == .ok)
        #expect(try AppCheckScene.seen(response).app == AppCheckScene.app)
        #expect(scene.reports == ["verified"])
    }

    @Test("white space around the token does not belong to it")
    func whiteSpace() async throws {
        let scene = try AppCheckScene()
        let response = try await scene.send([(AppCheckScene.header, "\t \(try scene.token()) \t")])
        #expect(response.status == .ok)
    }

    @Test("a client's own findings never reach a handler, in no mode", arguments: EnforcementMode.allCases)
    func findings(mode: EnforcementMode) async throws {
        let scene = try AppCheckScene()
        let response = try await scene.send(
            [
                (AppCheckScene.header, try scene.token()), ("X-AppCheck-App-Id", "spoofed"),
                ("x-appcheck-anything", "spoofed"), ("X_AppCheck_Jti", "spoofed"), ("X-App-Version", "1"),
            ], mode: mode)
        #expect(try AppCheckScene.seen(response).findings == ["x-app-version", "x-firebase-appcheck"])
    }

    @Test("where tokens are only counted, requests without a good one pass, and handlers get none")
    func unenforced() async throws {
        let scene = try AppCheckScene()
        for fields in [[], [(AppCheckScene.header, "rubbish")]] {
            let response = try await scene.send(fields, mode: .unenforced)
            #expect(response.status == .ok)
            #expect(try AppCheckScene.seen(response).app == nil)
        }
        _ = try await scene.send([(AppCheckScene.header, try scene.token())], mode: .unenforced)
        #expect(scene.reports == ["token_missing", "token_malformed", "verified"])
    }

    @Test("where tokens are only counted, it does not matter that there are no keys")
    func unenforcedWithoutKeys() async throws {
        let scene = try AppCheckScene(hasKeys: false)
        let response = try await scene.send([(AppCheckScene.header, try scene.token())], mode: .unenforced)
        #expect(response.status == .ok)
        #expect(try AppCheckScene.seen(response).app == nil)
        #expect(scene.reports == ["undecided"])
    }

    @Test("where nobody looks, nothing is judged and handlers get no token")
    func off() async throws {
        let scene = try AppCheckScene()
        let response = try await scene.send([(AppCheckScene.header, try scene.token())], mode: .off)
        #expect(response.status == .ok)
        #expect(try AppCheckScene.seen(response).app == nil)
        #expect(scene.reports.isEmpty)
    }

    @Test("a token that was used up passes once, and is told as it came")
    func consumption() async throws {
        let scene = try AppCheckScene()
        let token = try scene.token()
        let used = Used()
        let first = try await scene.send([(AppCheckScene.header, token)]) { used.insert($0, $1.id) }
        let second = try await scene.send([(AppCheckScene.header, token)]) { used.insert($0, $1.id) }
        #expect(first.status == .ok)
        #expect(second.status == .unauthorized)
        #expect(scene.reports == ["verified", "token_reused"])
        #expect(used.all == [token: "an identifier"])
    }

    @Test("a token that is not good is not used up")
    func badNotConsumed() async throws {
        let scene = try AppCheckScene()
        let used = Used()
        _ = try await scene.send([(AppCheckScene.header, "rubbish")]) { used.insert($0, $1.id) }
        #expect(used.all.isEmpty)
    }

    @Test("while it is not known whether a token was used before, nothing passes")
    func consumptionFails() async throws {
        struct Down: Error {}
        let scene = try AppCheckScene()
        let response = try await scene.send([(AppCheckScene.header, try scene.token())]) { _, _ in throw Down() }
        #expect(response.status == .serviceUnavailable)
        #expect(scene.reports == ["undecided"])
    }
}

/// Tokens that were used.
private final class Used: Sendable {
    private let tokens = Mutex<[String: String]>([:])

    var all: [String: String] { tokens.withLock { $0 } }

    func insert(_ token: String, _ id: String) -> Bool { tokens.withLock { $0.updateValue(id, forKey: token) == nil } }
}
