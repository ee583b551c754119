import AssayCore
import AssayHTTPClient
import AssayKit
import AssayTesting
import AssayTestingHTTP
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@Suite("Calls to other servers over sockets")
struct HTTPClientServiceTests {
    /// Calls a server once, and shuts the client down.
    private func call(
        _ answer: ScriptedAnswer, identity: LocalServer.Identity? = nil,
        options: HTTPClientOptions = HTTPClientOptions(),
        _ change: @escaping @Sendable (inout OutboundRequest) -> Void = { _ in }
    ) async throws -> Result<OutboundResponse, OutboundFailure> {
        let client = try HTTPClientService(options)
        let result = try await LocalServer(identity: identity) { _ in answer }.run { port in
            let scheme = identity == nil ? "http" : "https"
            var request = OutboundRequest(
                .get, try #require(EndpointURL("\(scheme)://localhost:\(port)/x?y=1")),
                timeLimit: .seconds(600))
            change(&request)
            do throws(OutboundFailure) {
                return Result<OutboundResponse, OutboundFailure>.success(try await client.send(request))
            } catch {
                return .failure(error)
            }
        }
        await client.shutDown()
        return result
    }

    private func code(_ result: Result<OutboundResponse, OutboundFailure>) -> OutboundFailure.Code? {
        if case .failure(let failure) = result { failure.code } else { nil }
    }

    private static func response(_ status: Int = 200, _ body: String = "hello") -> ScriptedAnswer {
        .respond(OutboundResponse(status: status, headers: [OutboundHeader("X-Test", "1")], body: Array(body.utf8)))
    }

    @Test("A request arrives as it was made, and the response as it was given", arguments: [false, true])
    func roundTrip(_ secure: Bool) async throws {
        let identity = try LocalIdentity()
        let client = try HTTPClientService(HTTPClientOptions(additionalTrustRoots: [identity.root]))
        let received = Mutex<OutboundRequest?>(nil)
        let server = LocalServer(identity: secure ? identity.server : nil) { request in
            received.withLock { $0 = request }
            return Self.response(418, "tea")
        }
        let response = try await server.run { port in
            try await client.send(
                OutboundRequest(
                    .post, try #require(EndpointURL("\(secure ? "https" : "http")://localhost:\(port)/a/b?c=d")),
                    headers: [OutboundHeader("Authorization", "secret")], body: Array("body".utf8),
                    timeLimit: .seconds(600)))
        }
        await client.shutDown()
        #expect(response.status == 418)
        #expect(response.header("x-test") == "1")
        #expect(response.body == Array("tea".utf8))
        let request = try #require(received.withLock { $0 })
        #expect(request.method == .post)
        #expect(request.url.path == "/a/b")
        #expect(request.url.query == "c=d")
        #expect(request.header("authorization") == "secret")
        #expect(request.body == Array("body".utf8))
    }

    @Test("A certificate of an unknown authority, for another name, or past its end is refused")
    func certificates() async throws {
        let identity = try LocalIdentity()
        let trusting = HTTPClientOptions(additionalTrustRoots: [identity.root])
        #expect(code(try await call(Self.response(), identity: identity.server, options: trusting)) == nil)
        #expect(code(try await call(Self.response(), identity: identity.server)) == .tlsRefused)
        let stranger = HTTPClientOptions(additionalTrustRoots: [try LocalIdentity().root])
        #expect(code(try await call(Self.response(), identity: identity.server, options: stranger)) == .tlsRefused)
        let other = try LocalIdentity(for: "example.com")
        let both = HTTPClientOptions(additionalTrustRoots: [other.root])
        #expect(code(try await call(Self.response(), identity: other.server, options: both)) == .tlsRefused)
        let ended = try LocalIdentity(endsAfter: .seconds(-86_400))
        let old = HTTPClientOptions(additionalTrustRoots: [ended.root])
        #expect(code(try await call(Self.response(), identity: ended.server, options: old)) == .tlsRefused)
        #expect(throws: OutboundFailure.self) {
            try HTTPClientService(HTTPClientOptions(additionalTrustRoots: [[1, 2, 3]]))
        }
    }

    @Test("A failure of TLS says in plain words what is wrong, and what to do")
    func tlsWords() async throws {
        let identity = try LocalIdentity()
        let other = try LocalIdentity(for: "example.com")
        let ended = try LocalIdentity(endsAfter: .seconds(-86_400))
        func words(
            _ server: LocalServer.Identity, trusting roots: [[UInt8]], _ option: String? = "--ca FILE"
        ) async throws -> String {
            var options = HTTPClientOptions(additionalTrustRoots: roots)
            options.authorityOption = option
            guard case .failure(let failure) = try await call(Self.response(), identity: server, options: options)
            else {
                return "no failure"
            }
            #expect(failure.code == .tlsRefused)
            let detail = failure.detail
            #expect(detail.hasPrefix("localhost:") && !detail.contains("BoringSSL") && !detail.contains("OPENSSL"))
            return detail
        }
        #expect(
            try await words(identity.server, trusting: []).hasSuffix(
                ": its certificate is of an authority that is not trusted: give the authority's certificate with --ca FILE"
            ))
        #expect(
            try await words(identity.server, trusting: [other.root]).hasSuffix(
                "neither this system nor --ca FILE has this authority; is it the right file?"))
        #expect(
            try await words(identity.server, trusting: [], nil).hasSuffix(
                "add the authority to those of this system, or correct the server's certificate"))
        #expect(
            try await words(other.server, trusting: [other.root]).contains(
                "its certificate is not for the name 'localhost'"))
        let expired = try await words(ended.server, trusting: [ended.root])
        #expect(
            expired.contains("its certificate expired at 20") && expired.hasSuffix("renew the server's certificate"))
        // A server without TLS, asked over TLS.
        let plain = try await call(Self.response()) { request in
            request.url = EndpointURL("https://localhost:\(request.url.port)/") ?? request.url
        }
        guard case .failure(let failure) = plain else {
            Issue.record("it was answered")
            return
        }
        #expect(failure.detail.contains("it does not speak TLS: is this the right port"), "\(failure)")
    }

    @Test("Redirects are not followed", arguments: [301, 302, 307, 308])
    func redirects(_ status: Int) async throws {
        let answer = ScriptedAnswer.respond(
            OutboundResponse(status: status, headers: [OutboundHeader("Location", "http://localhost:1/")]))
        #expect(try await call(answer).get().status == status)
    }

    @Test("A body over the limit is a failure, declared or not, and one at the limit is not")
    func size() async throws {
        #expect(try await call(Self.response()) { $0.responseLimit = 5 }.get().body.count == 5)
        #expect(code(try await call(Self.response()) { $0.responseLimit = 4 }) == .tooLarge)
        let undeclared = ScriptedAnswer.respond(
            OutboundResponse(
                status: 200, headers: [OutboundHeader("Transfer-Encoding", "chunked")],
                body: [UInt8](repeating: 1, count: 100_000)))
        #expect(try await call(undeclared) { $0.responseLimit = 100_000 }.get().body.count == 100_000)
        #expect(code(try await call(undeclared) { $0.responseLimit = 99_999 }) == .tooLarge)
    }

    @Test("A server that says nothing, or does not come to an end, takes no more than the time limit")
    func time() async throws {
        for answer in [ScriptedAnswer.silence, .stall(OutboundResponse(status: 200, body: [1, 2, 3]))] {
            #expect(code(try await call(answer) { $0.timeLimit = .milliseconds(200) }) == .timedOut)
        }
    }

    @Test("A server that hangs up, that is no server of HTTP, or that is not there is told apart from one that answers")
    func noServer() async throws {
        #expect(code(try await call(.hangUp)) == .interrupted)
        let identity = try LocalIdentity()
        let options = HTTPClientOptions(additionalTrustRoots: [identity.root])
        let plain = try await call(Self.response(), identity: identity.server, options: options) { request in
            request.url = EndpointURL("http://localhost:\(request.url.port)/") ?? request.url
        }
        #expect(code(plain) != nil)
        let free = try await LocalServer { _ in .silence }.run { port in port }
        let absent = try await call(Self.response()) { request in
            request.url = EndpointURL("http://127.0.0.1:\(free)/") ?? request.url
        }
        #expect(code(absent) == .cannotConnect)
        guard case .failure(let failure) = absent else { return }
        #expect(failure.detail == "127.0.0.1:\(free): Connection refused")
    }

    @Test("A header cannot carry another one into a request")
    func headers() async throws {
        for header in [OutboundHeader("X", "a\r\nY: b"), OutboundHeader("X\r\nY", "b"), OutboundHeader("", "b")] {
            #expect(code(try await call(Self.response()) { $0.headers = [header] }) == .invalidRequest)
        }
    }

    @Test("When its task is cancelled a call ends as cancelled; after shutdown every call fails")
    func endings() async throws {
        let client = try HTTPClientService()
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let server = LocalServer { _ in
            arrived.yield()
            return .silence
        }
        try await server.run { port in
            let url = try #require(EndpointURL("http://localhost:\(port)/"))
            let call = Task { () -> OutboundFailure.Code? in
                do throws(OutboundFailure) {
                    _ = try await client.send(OutboundRequest(.get, url, timeLimit: .seconds(60)))
                    return nil
                } catch {
                    return error.code
                }
            }
            _ = await arrivals.first { _ in true }
            call.cancel()
            #expect(await call.value == .cancelled)
            await client.shutDown()
            await #expect(throws: OutboundFailure.self) { try await client.send(OutboundRequest(.get, url)) }
            await client.shutDown()
        }
    }

    @Test("As a service it ends on graceful shutdown, used or not", arguments: [false, true])
    func service(_ isUsed: Bool) async throws {
        let client = try HTTPClientService()
        if isUsed {
            _ = try await LocalServer { _ in Self.response() }.run { port in
                try await client.send(
                    OutboundRequest(
                        .get, try #require(EndpointURL("http://localhost:\(port)/")), timeLimit: .seconds(600)))
            }
        }
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(services: [.init(service: client)], logger: .init(label: "test")))
        async let run: Void = group.run()
        await group.triggerGracefulShutdown()
        try await run
        let url = try #require(EndpointURL("http://localhost:1/"))
        do throws(OutboundFailure) {
            _ = try await client.send(OutboundRequest(.get, url))
            Issue.record("it is still open")
        } catch {
            #expect(error.code == .closed)
        }
    }

    @Test("A client that nobody shut down may be dropped")
    func dropped() async throws {
        _ = try await LocalServer { _ in Self.response() }.run { port in
            try await HTTPClientService().send(
                OutboundRequest(
                    .get, try #require(EndpointURL("http://localhost:\(port)/")), timeLimit: .seconds(600)))
        }
    }

    @Test("Who waits for a connection can be cancelled, and its time runs; the place goes to who waits the longest")
    func waiting() async throws {
        let client = try HTTPClientService(HTTPClientOptions(connectionsPerServer: 1))
        let (arrivals, arrived) = AsyncStream.makeStream(of: Void.self)
        let server = LocalServer { request in
            guard request.url.path == "/held" else { return Self.response() }
            arrived.yield()
            return .silence
        }
        try await server.run { port in
            func request(_ path: String, _ limit: Duration) throws -> OutboundRequest {
                OutboundRequest(
                    .get, try #require(EndpointURL("http://localhost:\(port)\(path)")), timeLimit: limit)
            }
            let (held, hasty, patient) = try (
                request("/held", .seconds(600)), request("/", .milliseconds(50)), request("/", .seconds(600))
            )
            let holder = Task { try? await client.send(held) }
            _ = await arrivals.first { _ in true }
            do throws(OutboundFailure) {
                _ = try await client.send(hasty)
                Issue.record("there were two connections")
            } catch {
                #expect(error.code == .timedOut)
            }
            let cancelled = Task { try? await client.send(patient) }
            let waiter = Task { try? await client.send(patient) }
            cancelled.cancel()
            #expect(await cancelled.value == nil)
            holder.cancel()
            #expect(await holder.value == nil)
            #expect(await waiter.value?.status == 200)
        }
        await client.shutDown()
    }

    @Test("There are no more connections to a server than allowed; further calls wait for one")
    func connections() async throws {
        let client = try HTTPClientService(HTTPClientOptions(connectionsPerServer: 2))
        let busy = Mutex((now: 0, most: 0))
        let server = LocalServer { _ in
            busy.withLock { busy in
                busy.now += 1
                busy.most = max(busy.most, busy.now)
            }
            for _ in 0..<3 { await Task.yield() }
            busy.withLock { $0.now -= 1 }
            return Self.response()
        }
        let answered = try await server.run { port in
            let request = OutboundRequest(
                .get, try #require(EndpointURL("http://localhost:\(port)/")), timeLimit: .seconds(600))
            return try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<40 { group.addTask { try await client.send(request).status } }
                return try await group.reduce(into: 0) { $0 += $1 == 200 ? 1 : 0 }
            }
        }
        await client.shutDown()
        #expect(answered == 40)
        #expect(busy.withLock { $0.most } <= 2)
    }
}
