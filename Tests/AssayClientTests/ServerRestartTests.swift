import AssayClientHTTP
import AssayTesting
import Synchronization
import Testing

@testable import AssayClient

/// The client while `assay serve` is killed and started, and with many callers.
@Suite("A server that comes and goes", .serialized, .timeLimit(.minutes(10)))
struct ServerRestartTests {
    /// Counts the requests that go over a transport.
    private final class Counting: ClientTransport {
        private let transport: HTTPClientTransport
        private let count = Mutex(0)

        init(_ transport: HTTPClientTransport) { self.transport = transport }

        var requests: Int { count.withLock { $0 } }

        func send(_ request: ClientRequest) async throws -> ClientResponse {
            count.withLock { $0 += 1 }
            return try await transport.send(request)
        }
    }

    /// An app that attests, with a clock that a test moves.
    private struct App {
        let clock = FakeClock()
        let transport: HTTPClientTransport
        let counting: Counting
        let device: SimulatedAttestingDevice
        let appCheck: AppCheck

        init(_ server: ServerProcess) throws {
            transport = try HTTPClientTransport()
            counting = Counting(transport)
            device = SimulatedAttestingDevice(authority: server.authority)
            var options = AppCheckOptions(transport: counting, storage: MemoryStorage())
            options.clock = clock
            options.notice = { _ in }
            appCheck = try AppCheck(
                app: FakeToken.app.replacing("1234567890/", with: "example-project/"), endpoint: server.base,
                provider: AppAttestProvider(device: device), options: options)
        }
    }

    @Test("five hundred callers at once get one token, by one attestation")
    func fiveHundred() async throws {
        try await ServerProcess.with { server in
            let app = try App(server)
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<500 { group.addTask { try await app.appCheck.token().text } }
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(texts.count == 500 && Set(texts).count == 1)
            #expect(app.counting.requests == 2)
            #expect(app.device.keysMade == 1)
            // Tokens for one use are one for each, whose counters rise in order.
            let limited = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<50 { group.addTask { try await app.appCheck.limitedUseToken().text } }
                return try await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(Set(limited).count == 50)
            #expect(app.counting.requests == 2 + 2 * 50)
            await app.transport.shutDown()
        }
    }

    @Test("a server that is killed costs no kept token, and one that starts again with its keys no new key")
    func killed() async throws {
        try await ServerProcess.with { server in
            let app = try App(server)
            let first = try await app.appCheck.token()
            // Callers under way get an answer each, whatever it is.
            let crowd = Task {
                await withTaskGroup(of: AppCheckError.Code?.self) { group in
                    for index in 0..<200 {
                        group.addTask {
                            do throws(AppCheckError) {
                                _ =
                                    try await index % 2 == 0
                                    ? app.appCheck.token(forcingRefresh: true) : app.appCheck.limitedUseToken()
                                return nil
                            } catch {
                                return error.code
                            }
                        }
                    }
                    return await group.reduce(into: [AppCheckError.Code?]()) { $0.append($1) }
                }
            }
            try await Task.sleep(for: .milliseconds(30))
            try await server.kill()
            let answers = await crowd.value
            #expect(answers.count == 200)
            #expect(answers.allSatisfy { $0 == nil || $0 == .unreachable }, "\(Set(answers))")

            let kept = try await app.appCheck.token()
            #expect(kept.expires >= first.expires)
            app.clock.advance(by: .minutes(56))
            let error = await clientError { _ = try await app.appCheck.token() }
            #expect(error?.code == .unreachable && error?.retryAfter == nil)

            try await server.start()
            let fresh = try await app.appCheck.token()
            #expect(fresh.text != kept.text)
            #expect(app.device.keysMade == 1)
            await app.transport.shutDown()
        }
    }

    @Test("a listener hears of the failure, and of the token after the server has started again")
    func listens() async throws {
        try await ServerProcess.with { server in
            let app = try App(server)
            let heard = Notices()
            let listener = Task {
                for await update in app.appCheck.updates {
                    switch update {
                    case .success: heard.add("token")
                    case .failure(let error): heard.add("\(error.code)")
                    }
                }
            }
            try await eventually("the first token") { heard.all == ["token"] }
            try await server.kill()
            try await eventually("the refresh is planned") { app.clock.sleeping.count == 1 }
            app.clock.advance(by: .minutes(35))
            try await eventually("the failure") { heard.all == ["token", "unreachable"] }
            try await server.start()
            try await eventually("the retry is planned") { app.clock.sleeping.count == 1 }
            app.clock.advance(by: .minutes(1))
            try await eventually("the token") { heard.all == ["token", "unreachable", "token"] }
            listener.cancel()
            #expect(app.device.keysMade == 1)
            await app.transport.shutDown()
        }
    }

    @Test("a time of day that jumps back and forth by years changes no lifetime and no pause")
    func timeOfDay() async throws {
        let scene = try ClientScene()
        let first = try await scene.appCheck.token()
        for (number, year) in [1970, 2038, 1999, 2262, 1971].enumerated() {
            scene.clock.unixMilliseconds = Int64(year - 1970) * 31_556_952_000
            scene.clock.advance(by: .minutes(10))
            // The program that runs, and one that starts again.
            #expect(try await scene.appCheck.token().text == first.text, "\(number)")
            #expect(try await scene.restarted().token().text == first.text, "\(number)")
        }
        scene.clock.advance(by: .minutes(5))
        scene.service.next { _ in .error(429, "RESOURCE_EXHAUSTED", headers: [ClientHeader("Retry-After", "100")]) }
        let error = try #require(await clientError { _ = try await scene.appCheck.token() })
        let wait = try #require(error.retryAfter)
        scene.clock.unixMilliseconds = 4_102_444_800_000
        scene.clock.advance(by: wait - .seconds(1))
        #expect(await clientError { _ = try await scene.appCheck.token() }?.retryAfter == .seconds(1))
        scene.clock.advance(by: .seconds(1))
        #expect(try await scene.appCheck.token().text != first.text)
    }
}
