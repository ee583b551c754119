import AssayClientHTTP
import AssayTesting
import Synchronization
import Testing

@testable import AssayClient

/// A server that means no good, at the other end of a socket.
@Suite("A hostile server", .timeLimit(.minutes(5)))
struct HostileServerTests {
    /// What such a server does, and what the client calls it.
    struct Attack: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let codes: [AppCheckError.Code]
        let answer: RawServer.Answer

        init(_ name: String, _ codes: AppCheckError.Code..., answer: @escaping RawServer.Answer) {
            (testDescription, self.codes, self.answer) = (name, codes, answer)
        }

        init(_ name: String, body: String, _ code: AppCheckError.Code = .malformedReply) {
            self.init(name, code) { $0.respond(200, body) }
        }
    }

    private static let token = FakeToken.text(number: 1)
    private static let genuine: RawServer.Answer = { $0.respond(200, #"{"token":"\#(token)","ttl":"3600s"}"#) }
    private static let block = String(repeating: "x", count: 65_536)

    private static let attacks: [Attack] = [
        Attack("a body without end", .malformedReply) {
            $0.send("HTTP/1.1 200 OK\r\n\r\n")
            $0.repeats(block)
        },
        Attack("a body of a terabyte", .malformedReply) {
            $0.send("HTTP/1.1 200 OK\r\nContent-Length: 1099511627776\r\n\r\n")
            $0.repeats(block)
        },
        Attack("chunks without end", .malformedReply) {
            $0.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            $0.repeats("10000\r\n\(block)\r\n")
        },
        Attack("a field without end", .malformedReply, .unreachable) {
            $0.send("HTTP/1.1 200 OK\r\nX-A: ")
            $0.repeats(block)
        },
        Attack("fields without end", .malformedReply, .unreachable) {
            $0.send("HTTP/1.1 200 OK\r\n")
            $0.repeats(String(repeating: "X-A: b\r\n", count: 1000))
        },
        Attack("informational responses without end", .malformedReply, .unreachable) {
            $0.repeats("HTTP/1.1 103 Early Hints\r\n\r\n")
        },
        Attack("an error without end", .malformedReply) {
            $0.send("HTTP/1.1 500 Internal Server Error\r\n\r\n")
            $0.repeats(block)
        },
        Attack("one byte after the other", .unreachable) {
            $0.send("HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n")
            $0.repeats("x", pause: 100_000)
        },
        Attack("silence", .unreachable) { $0.wait() },
        Attack("a closed connection", .unreachable) { _ in },
        Attack("half a reply", .unreachable) { $0.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{") },
        Attack("another protocol", .unreachable) { $0.send("SSH-2.0-OpenSSH_9.2\r\n") },
        Attack("a redirect to itself", .redirected) { $0.respond(307, "", "Location: \($0.path)\r\n") },
        Attack("a redirect to nowhere", .redirected) { $0.respond(302, "", "Location: http://[\r\n") },
        Attack("a packed body", .malformedReply) {
            $0.respond(200, "\u{1F}", "Content-Encoding: gzip\r\n")
        },
        Attack("no JSON", body: "<html>"), Attack("no object", body: "[]"),
        Attack("too deep", body: String(repeating: #"{"a":"#, count: 5000)),
        Attack("a token that is a number", body: #"{"token":7,"ttl":"3600s"}"#),
        Attack("a lifetime that is a number", body: #"{"token":"\#(token)","ttl":3600}"#),
        Attack("a lifetime of a century", body: #"{"token":"\#(token)","ttl":"999999999s"}"#),
        Attack(
            "a token of 20 KB",
            body: #"{"token":"a.\#(String(repeating: "b", count: 20_000)).c","ttl":"3600s"}"#),
        Attack(
            "another app's token",
            body: #"{"token":"\#(FakeToken.text(number: 1, subject: "1:2:ios:other"))","ttl":"3600s"}"#, .foreignToken),
        Attack(
            "another project's token",
            body: #"{"token":"\#(FakeToken.text(number: 1, audience: ["projects/987"]))","ttl":"3600s"}"#, .foreignToken
        ),
    ]

    @Test(
        "an attack ends in time as an error of its kind, takes little memory, and is over when the server answers well",
        arguments: attacks)
    func attack(attack: Attack) async throws {
        let transport = try HTTPClientTransport()
        try await RawServer.with(attack.answer) { server in
            let clock = FakeClock()
            var options = AppCheckOptions(transport: transport, storage: MemoryStorage())
            options.clock = clock
            options.requestLimit = .seconds(3)
            let appCheck = try AppCheck(
                app: FakeToken.app, endpoint: server.base, provider: DebugProvider(debugToken: "a"), options: options)
            let start = ContinuousClock.now
            let error = try #require(await clientError { _ = try await appCheck.token() })
            #expect(attack.codes.contains(error.code), "\(error)")
            #expect(ContinuousClock.now - start < .seconds(30))
            #expect(error.description.utf8.count < 1000)
            #expect(server.requests == 1)
            // The connection is closed. What was read is less than this, which the system's buffers hold too.
            try await Task.sleep(for: .milliseconds(200))
            let taken = server.bytesTaken
            #expect(taken < 16 << 20)
            try await Task.sleep(for: .milliseconds(150))
            #expect(server.bytesTaken == taken)

            server.answer(Self.genuine)
            clock.advance(by: error.retryAfter ?? .zero)
            #expect(try await appCheck.token().text == Self.token)
            #expect(server.requests == 2)
        }
        await transport.shutDown()
    }

    @Test("attacks on an app with an attested key lose neither the key nor its artifact", arguments: attacks)
    func keepsKey(attack: Attack) async throws {
        let genuine = try ServerInProcess()
        let device = SimulatedAttestingDevice(genuine)
        let storage = MemoryStorage()
        let transport = try HTTPClientTransport()
        try await RawServer.with(attack.answer) { server in
            let both = Redirected(genuine: genuine, hostile: transport, base: server.base)
            let clock = FakeClock()
            var options = AppCheckOptions(transport: both, storage: storage)
            options.clock = clock
            options.requestLimit = .seconds(3)
            options.notice = { _ in }
            let appCheck = try AppCheck(
                app: FakeToken.app, endpoint: "https://assay.example.com", provider: AppAttestProvider(device: device),
                options: options)
            let first = try await appCheck.token()
            both.isHostile.withLock { $0 = true }
            let error = await clientError { _ = try await appCheck.token(forcingRefresh: true) }
            #expect(error != nil)
            // What was there is still given out.
            #expect(try await appCheck.token().text == first.text)
            both.isHostile.withLock { $0 = false }
            clock.advance(by: error?.retryAfter ?? .zero)
            _ = try await appCheck.token(forcingRefresh: true)
            #expect(device.keysMade == 1)
        }
        await transport.shutDown()
    }
}

/// Leads the requests for a genuine server to a hostile one, as another machine between would.
private final class Redirected: ClientTransport {
    let isHostile = Mutex(false)
    private let genuine: any ClientTransport
    private let hostile: any ClientTransport
    private let base: String

    init(genuine: any ClientTransport, hostile: any ClientTransport, base: String) {
        (self.genuine, self.hostile, self.base) = (genuine, hostile, base)
    }

    func send(_ request: ClientRequest) async throws -> ClientResponse {
        guard isHostile.withLock({ $0 }) else { return try await genuine.send(request) }
        var request = request
        request.url = request.url.replacing("https://assay.example.com", with: base)
        return try await hostile.send(request)
    }
}
