import Testing

@testable import AssayClient

@Suite("Protected calls")
struct ProtectedCallsTests {
    private static let refusal = ClientHeader("WWW-Authenticate", "AppCheck realm=\"assay\", error=\"invalid_token\"")
    private static let url = "https://api.example.com/orders"

    /// The token that each request had.
    private func tokens(_ backend: FakeService) -> [String?] {
        backend.requests.map { request in request.headers.first { $0.name == "X-Firebase-AppCheck" }?.value }
    }

    @Test("the token is in the header, in place of another one")
    func attaches() async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 200, body: [1]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        let response = try await calls.send(
            ClientRequest(url: Self.url, headers: [ClientHeader("x-firebase-appcheck", "old"), ClientHeader("A", "b")]))
        #expect(response.body == [1])
        let request = try #require(backend.requests.first)
        #expect(request.headers.map(\.name) == ["A", "X-Firebase-AppCheck"])
        #expect(tokens(backend) == [FakeToken.text(number: 1)])
    }

    @Test("a refused token is replaced once")
    func replaces() async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 401, headers: [Self.refusal]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        _ = try await scene.appCheck.token()
        scene.clock.advance(by: .minutes(2))
        #expect(try await calls.send(ClientRequest(url: Self.url)).status == 401)
        #expect(tokens(backend) == [FakeToken.text(number: 1), FakeToken.text(number: 2)])
        // The new token is young: a backend that refuses every token does not make each call a fetch.
        #expect(try await calls.send(ClientRequest(url: Self.url)).status == 401)
        #expect(tokens(backend).count == 3)
        #expect(scene.service.requests.count == 2)
    }

    @Test("another caller's newer token is used before a new one is fetched")
    func usesNewer() async throws {
        let scene = try ClientScene()
        let appCheck = scene.appCheck
        let backend = FakeService { _ in ClientResponse(status: 200) }
        backend.next { _ in
            _ = try await appCheck.token(forcingRefresh: true)
            return ClientResponse(status: 401, headers: [Self.refusal])
        }
        let calls = ProtectedCalls(appCheck: appCheck, transport: backend)
        #expect(try await calls.send(ClientRequest(url: Self.url)).status == 200)
        #expect(tokens(backend) == [FakeToken.text(number: 1), FakeToken.text(number: 2)])
        #expect(scene.service.requests.count == 2)
    }

    @Test(
        "a 401 that does not speak of the token is the program's to handle",
        arguments: [
            nil, "Bearer realm=\"api\", error=\"invalid_token\"", "AppCheck realm=\"assay\"",
            "Basic realm=\"AppCheck\"",
        ] as [String?])
    func otherRefusals(challenge: String?) async throws {
        let scene = try ClientScene()
        let headers = challenge.map { [ClientHeader("www-authenticate", $0)] } ?? []
        let backend = FakeService { _ in ClientResponse(status: 401, headers: headers) }
        _ = try await scene.appCheck.token()
        scene.clock.advance(by: .minutes(2))
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        #expect(try await calls.send(ClientRequest(url: Self.url)).status == 401)
        #expect(backend.requests.count == 1)
    }

    @Test("limited-use tokens are new for each request and each try")
    func limitedUse() async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 200) }
        backend.next { _ in ClientResponse(status: 401, headers: [Self.refusal]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend, token: .limitedUse)
        _ = try await calls.send(ClientRequest(url: Self.url))
        _ = try await calls.send(ClientRequest(url: Self.url))
        #expect(Set(tokens(backend)).count == 3)
    }

    @Test(
        "a token leaves the device under TLS alone",
        arguments: [
            "http://api.example.com/", "http://192.168.0.1/", "http://localhost.example.com/", "ws://api.example.com/",
            "https://user:password@api.example.com/", "https://api.example.com/#part", "https://api example.com/", "",
        ])
    func insecure(url: String) async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 200) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        #expect(await clientError { _ = try await calls.send(ClientRequest(url: url)) }?.code == .insecure)
        #expect(backend.requests.isEmpty && scene.service.requests.isEmpty)
    }

    @Test("a token in a URL is refused")
    func tokenInURL() async throws {
        let scene = try ClientScene()
        let token = try await scene.appCheck.token().text
        let backend = FakeService { _ in ClientResponse(status: 200) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        let error = await clientError { _ = try await calls.send(ClientRequest(url: "\(Self.url)?token=\(token)&a=b")) }
        #expect(error?.code == .insecure)
        #expect(backend.requests.isEmpty)
    }

    @Test(
        "a redirect within the origin is followed, and the token goes with it",
        arguments: [
            "/new", "https://api.example.com/new", "https://API.example.com:443/new",
        ])
    func redirects(location: String) async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 200) }
        backend.next { _ in ClientResponse(status: 308, headers: [ClientHeader("Location", location)]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        #expect(try await calls.send(ClientRequest(url: Self.url)).status == 200)
        #expect(backend.requests.last?.url.hasSuffix("/new") == true)
        #expect(tokens(backend).count == 2)
    }

    @Test(
        "a redirect to another origin is not followed",
        arguments: [
            "https://evil.example.com/", "http://api.example.com/orders", "https://api.example.com:8443/orders",
            "//evil.example.com/", "http://localhost/", "https://api.example.com@evil.example.com/",
            "javascript:alert(1)", "",
        ])
    func foreignRedirects(location: String) async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 302, headers: [ClientHeader("Location", location)]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        #expect(await clientError { _ = try await calls.send(ClientRequest(url: Self.url)) }?.code == .redirected)
        #expect(backend.requests.count == 1)
    }

    @Test("redirects end, and a POST is not sent twice")
    func boundedRedirects() async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 307, headers: [ClientHeader("Location", "/again")]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        #expect(try await calls.send(ClientRequest(method: "POST", url: Self.url)).status == 307)
        #expect(backend.requests.count == 1)
        #expect(try await calls.send(ClientRequest(url: Self.url)).status == 307)
        #expect(backend.requests.count == 7)
    }

    @Test("a transport that returns more than was allowed is not believed")
    func tooLarge() async throws {
        let scene = try ClientScene()
        let backend = FakeService { _ in ClientResponse(status: 200, body: [1, 2, 3]) }
        let calls = ProtectedCalls(appCheck: scene.appCheck, transport: backend)
        let error = await clientError { _ = try await calls.send(ClientRequest(url: Self.url, responseLimit: 2)) }
        #expect(error?.code == .malformedReply)
    }
}
