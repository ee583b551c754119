import Testing

@testable import AssayClient

@Suite("Tokens of an app")
struct AppCheckTests {
    @Test("a token is fetched once and given until five minutes before its end")
    func caches() async throws {
        let scene = try ClientScene()
        let first = try await scene.appCheck.token()
        scene.clock.advance(by: .minutes(55) - .milliseconds(1))
        #expect(try await scene.appCheck.token().text == first.text)
        scene.clock.advance(by: .milliseconds(1))
        #expect(try await scene.appCheck.token().text != first.text)
        #expect(scene.service.requests.count == 2)
    }

    @Test("callers at the same time share one fetch")
    func shares() async throws {
        let gate = Gate()
        let service = FakeService { _ in
            await gate.pass()
            return .token(FakeToken.text(number: 1))
        }
        let scene = try ClientScene(service)
        let appCheck = scene.appCheck
        let tokens = try await withThrowingTaskGroup(of: String.self) { group in
            for index in 0..<200 { group.addTask { try await appCheck.token(forcingRefresh: index % 3 == 0).text } }
            try await eventually("a request") { gate.count == 1 }
            try await Task.sleep(for: .milliseconds(20))
            gate.open()
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        // One that came when the fetch had ended may have forced another.
        #expect(service.requests.count <= 2)
    }

    @Test("the cancellation of one caller ends the wait of no other")
    func cancelsAlone() async throws {
        let gate = Gate()
        let scene = try ClientScene(
            FakeService { _ in
                await gate.pass()
                return .token(FakeToken.text(number: 1))
            })
        let appCheck = scene.appCheck
        let first = Task { try await appCheck.token().text }
        try await eventually("a request") { gate.count == 1 }
        let second = Task { try await appCheck.token().text }
        first.cancel()
        let error = await clientError { _ = try await first.value }
        #expect(error?.code == .cancelled)
        gate.open()
        #expect(try await second.value == FakeToken.text(number: 1))
        #expect(scene.service.requests.count == 1)
    }

    @Test("a caller whose task is cancelled already gets no token")
    func cancelledBefore() async throws {
        let scene = try ClientScene()
        let appCheck = scene.appCheck
        let error = await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await clientError { _ = try await appCheck.limitedUseToken() }
        }.value
        #expect(error?.code == .cancelled)
    }

    @Test("a forced refresh does not take the cached token, and fails without spoiling it")
    func forces() async throws {
        let scene = try ClientScene()
        let first = try await scene.appCheck.token()
        let second = try await scene.appCheck.token(forcingRefresh: true)
        #expect(first.text != second.text)
        scene.service.next { _ in .error(503, "UNAVAILABLE") }
        let error = await clientError { _ = try await scene.appCheck.token(forcingRefresh: true) }
        #expect(error?.code == .unavailable)
        #expect(try await scene.appCheck.token().text == second.text)
    }

    @Test("limited-use tokens are made for one caller each, and are not kept")
    func limitedUse() async throws {
        let scene = try ClientScene()
        let appCheck = scene.appCheck
        let session = try await appCheck.token()
        let tokens = try await withThrowingTaskGroup(of: AppCheckToken.self) { group in
            for _ in 0..<20 { group.addTask { try await appCheck.limitedUseToken() } }
            return try await group.reduce(into: [AppCheckToken]()) { $0.append($1) }
        }
        #expect(Set(tokens.map(\.text)).count == 20)
        #expect(tokens.allSatisfy { $0.isLimitedUse })
        #expect(try await appCheck.token().text == session.text)
        let bodies = scene.service.requests.map { String(decoding: $0.body, as: UTF8.self) }
        #expect(bodies.map { $0.contains("\"limited_use\":true") } == [false] + Array(repeating: true, count: 20))
    }

    @Test("requests of one app are sent one after the other")
    func serial() async throws {
        let gate = Gate()
        let scene = try ClientScene(
            FakeService { _ in
                await gate.pass()
                return .token(FakeToken.text(number: 1))
            })
        let appCheck = scene.appCheck
        async let first = appCheck.limitedUseToken()
        async let second = appCheck.token()
        try await eventually("a request") { gate.count == 1 }
        try await Task.sleep(for: .milliseconds(20))
        #expect(scene.service.requests.count == 1)
        gate.open()
        _ = try await (first, second)
        #expect(scene.service.requests.count == 2)
    }

    @Test("the lifetime counts from before the request was sent")
    func countsFromRequest() async throws {
        let scene = try ClientScene(fetchLimit: .minutes(120))
        let clock = scene.clock
        scene.service.next { _ in
            clock.advance(by: .minutes(30))
            return .token(FakeToken.text(number: 1))
        }
        let token = try await scene.appCheck.token()
        #expect(token.expires - clock.now == .minutes(30))
    }

    @Test("a token that ended on its way is given to nobody")
    func endedOnTheWay() async throws {
        let scene = try ClientScene(fetchLimit: .minutes(120))
        let clock = scene.clock
        scene.service.next { _ in
            clock.advance(by: .minutes(61))
            return .token(FakeToken.text(number: 1))
        }
        #expect(await clientError { _ = try await scene.appCheck.token() }?.code == .expiredOnArrival)
        _ = try await scene.appCheck.token()
    }

    @Test("a token lasts no longer than its own claims say")
    func ownClaims() async throws {
        let scene = try ClientScene()
        scene.service.next { _ in .token(FakeToken.text(number: 1, lifetime: 1800), ttl: "3600s") }
        let token = try await scene.appCheck.token()
        #expect(token.expires - token.requested == .minutes(30))
    }

    @Test("an OAuth client has tokens like an app")
    func oauthClient() async throws {
        let scene = try ClientScene(app: "oauthClients/123-example.apps.googleusercontent.com")
        scene.service.next { _ in
            .token(FakeToken.text(number: 1, subject: "123-example.apps.googleusercontent.com"))
        }
        _ = try await scene.appCheck.token()
        let url = try #require(scene.service.requests.first).url
        #expect(
            url
                == "https://assay.example.com/v1/oauthClients/123-example.apps.googleusercontent.com:exchangeDebugToken"
        )
    }

    @Test("neither a token nor an error shows the token")
    func withheld() async throws {
        let scene = try ClientScene()
        let token = try await scene.appCheck.token()
        #expect(!"\(token) \(String(reflecting: token))".contains(token.text))
        scene.service.next { _ in .token(FakeToken.text(number: 2, subject: "another")) }
        let error = try #require(await clientError { _ = try await scene.appCheck.token(forcingRefresh: true) })
        #expect(!"\(error)".contains("eyJ"))
    }

    @Test("a provider that does not finish is given up, and the next caller is served")
    func timesOut() async throws {
        let gate = Gate()
        let scene = try ClientScene()
        scene.service.next { _ in
            await gate.pass()
            return .token(FakeToken.text(number: 77))
        }
        let appCheck = scene.appCheck
        let stuck = Task { await clientError { _ = try await appCheck.token() } }
        try await eventually("a request") { gate.count == 1 }
        try await eventually("a timer") { !scene.clock.sleeping.isEmpty }
        scene.clock.advance(by: .minutes(2))
        #expect(await stuck.value?.code == .timedOut)
        let token = try await appCheck.token().text
        gate.open()
        #expect(token != FakeToken.text(number: 77))
        try await Task.sleep(for: .milliseconds(20))
        #expect(try await appCheck.token().text == token)
    }

    @Test(
        "a malformed app or address is refused before anything is sent",
        arguments: [
            ("projects/1/apps", "https://assay.example.com"), ("1:2:ios:3", "https://assay.example.com"),
            ("projects/1/apps/a/b", "https://assay.example.com"), ("projects/../apps/a", "https://assay.example.com"),
            ("projects/1/apps/a?b", "https://assay.example.com"), (FakeToken.app, "assay.example.com"),
            (FakeToken.app, "http://assay.example.com"), (FakeToken.app, "https://user@assay.example.com"),
            (FakeToken.app, "https://assay.example.com?a=b"), (FakeToken.app, "http://127.0.0.1.example.com"),
            (FakeToken.app, "ftp://localhost"), (FakeToken.app, ""),
        ])
    func refusesConfiguration(app: String, endpoint: String) async throws {
        let error = await clientError { _ = try ClientScene(app: app, endpoint: endpoint) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test(
        "the address may have the version, a path and a slash",
        arguments: [
            ("https://assay.example.com", "https://assay.example.com/v1/"),
            ("https://assay.example.com/", "https://assay.example.com/v1/"),
            ("https://assay.example.com/v1", "https://assay.example.com/v1/"),
            ("https://assay.example.com/v1beta/", "https://assay.example.com/v1/"),
            ("https://assay.example.com/check", "https://assay.example.com/check/v1/"),
            ("http://localhost:8080", "http://localhost:8080/v1/"), ("http://[::1]:8080", "http://[::1]:8080/v1/"),
        ])
    func addresses(endpoint: String, base: String) async throws {
        let scene = try ClientScene(endpoint: endpoint)
        _ = try await scene.appCheck.token()
        let request = try #require(scene.service.requests.first)
        #expect(request.url == "\(base)\(FakeToken.app):exchangeDebugToken")
        #expect(request.method == "POST")
        #expect(request.responseLimit == 65_536)
    }
}
