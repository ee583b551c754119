import AssayCore
import Testing

@testable import AssayClient

@Suite("Failures")
struct FailureTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let response: ClientResponse
        let code: AppCheckError.Code
        /// The least and the most seconds that nothing is sent.
        let pause: ClosedRange<Int64>
        var testDescription: String { "\(response.status) \(response.header("retry-after") ?? "")" }

        init(
            _ status: Int, _ name: String, _ code: AppCheckError.Code, _ pause: ClosedRange<Int64>,
            _ headers: [ClientHeader] = []
        ) {
            response = .error(status, name, decision: "01KBH5DECISION", headers: headers)
            self.code = code
            self.pause = pause
        }
    }

    @Test(
        "the status says what happened, and how long nothing is sent",
        arguments: [
            Case(400, "INVALID_ARGUMENT", .rejected, 1...3), Case(400, "FAILED_PRECONDITION", .notConfigured, 1...3),
            Case(404, "NOT_FOUND", .notConfigured, 1...3), Case(403, "PERMISSION_DENIED", .refused, 1...3),
            Case(401, "UNAUTHENTICATED", .rejected, 1...3), Case(500, "INTERNAL", .unavailable, 1...3),
            Case(302, "", .redirected, 1...3, [ClientHeader("Location", "https://assay.example.com/v1/")]),
            Case(429, "RESOURCE_EXHAUSTED", .throttled, 30...45, [ClientHeader("Retry-After", "30")]),
            Case(429, "RESOURCE_EXHAUSTED", .throttled, 1...3),
            Case(503, "UNAVAILABLE", .unavailable, 7...11, [ClientHeader("retry-after", "7")]),
            Case(503, "UNAVAILABLE", .unavailable, 1...2, [ClientHeader("retry-after", "0")]),
            // No server silences an app for a day.
            Case(503, "UNAVAILABLE", .unavailable, 3600...3631, [ClientHeader("retry-after", "86400")]),
            // A date counts from the server's own.
            Case(
                503, "UNAVAILABLE", .unavailable, 90...120,
                [
                    ClientHeader("Date", "Sat, 21 Nov 2026 12:00:00 GMT"),
                    ClientHeader("Retry-After", "Sat, 21 Nov 2026 12:01:30 GMT"),
                ]),
            Case(
                503, "UNAVAILABLE", .unavailable, 1...3,
                [ClientHeader("Retry-After", "Sat, 21 Nov 2026 12:01:30 GMT")]),
            // It belongs to 429 and 503.
            Case(403, "PERMISSION_DENIED", .refused, 1...3, [ClientHeader("Retry-After", "3000")]),
        ])
    func statuses(test: Case) async throws {
        let scene = try ClientScene()
        scene.service.next { _ in test.response }
        let error = try #require(await clientError { _ = try await scene.appCheck.token() })
        #expect(error.code == test.code)
        #expect(error.status == test.response.status)
        #expect(error.decision == "01KBH5DECISION")
        #expect(error.description.contains("01KBH5DECISION"))
        let wait = try #require(error.retryAfter)
        #expect(test.pause.contains(wait.wholeSeconds), "\(wait)")

        // Within the pause the error comes at once, with what is left of it.
        scene.clock.advance(by: wait - .milliseconds(1))
        let again = try #require(await clientError { _ = try await scene.appCheck.limitedUseToken() })
        #expect(again.code == test.code)
        #expect(again.retryAfter == .milliseconds(1))
        #expect(scene.service.requests.count == 1)
        scene.clock.advance(by: .milliseconds(1))
        _ = try await scene.appCheck.token()
        #expect(scene.service.requests.count == 2)
    }

    @Test("pauses double from failure to failure, up to an hour, and a success ends them")
    func doubles() async throws {
        let scene = try ClientScene(FakeService { _ in .error(403, "PERMISSION_DENIED") })
        var waits: [Int64] = []
        for _ in 0..<14 {
            let error = try #require(await clientError { _ = try await scene.appCheck.token() })
            let wait = try #require(error.retryAfter)
            waits.append(wait.wholeSeconds)
            scene.clock.advance(by: wait)
        }
        for (index, wait) in waits.enumerated() {
            let least = min(Int64(2) << Int64(index), 3600)
            #expect((least...min(least + least / 2, 3600)).contains(wait), "\(waits)")
        }
        scene.service.next { _ in .token(FakeToken.text(number: 1)) }
        _ = try await scene.appCheck.token()
        scene.clock.advance(by: .minutes(60))
        let error = try #require(await clientError { _ = try await scene.appCheck.token() })
        #expect(try #require(error.retryAfter).wholeSeconds <= 3)
    }

    @Test("nothing was decided when nothing arrived: the next caller may try at once")
    func unreachable() async throws {
        struct NoConnection: Error {}
        let scene = try ClientScene()
        scene.service.next { _ in throw NoConnection() }
        let error = try #require(await clientError { _ = try await scene.appCheck.token() })
        #expect(error.code == .unreachable)
        #expect(error.retryAfter == nil)
        #expect(error.cause is NoConnection)
        #expect(error.isTransient)
        _ = try await scene.appCheck.token()
    }

    @Test(
        "the decision may be in the header alone, and must be an identifier",
        arguments: [
            ("01KBH5DECISION", "01KBH5DECISION"), ("two words", nil), ("", nil),
            (String(repeating: "a", count: 129), nil),
        ] as [(String, String?)])
    func decisions(header: String, decision: String?) async throws {
        let scene = try ClientScene()
        scene.service.next { _ in .error(403, "PERMISSION_DENIED", headers: [ClientHeader("X-Assay-Decision", header)])
        }
        #expect(await clientError { _ = try await scene.appCheck.token() }?.decision == decision)
    }

    @Test("what a server says is shortened, and moves no cursor")
    func shownWords() async throws {
        let scene = try ClientScene()
        scene.service.next { _ in
            .error(500, "INTERNAL", "\u{1B}[2J\u{202E}" + String(repeating: "x", count: 5000))
        }
        let error = try #require(await clientError { _ = try await scene.appCheck.token() })
        #expect(error.message.utf8.count < 600)
        #expect(!error.message.unicodeScalars.contains("\u{1B}"))
        #expect(!error.message.unicodeScalars.contains("\u{202E}"))
    }

    static let token = FakeToken.text(number: 1)

    @Test(
        "a reply that is not what the method declares is refused",
        arguments: [
            "", "null", "[]", "{", #"{"token":"a.b.c"}"#, #"{"ttl":"3600s"}"#, #"{"token":7,"ttl":"3600s"}"#,
            #"{"token":"TOKEN","ttl":3600}"#, #"{"token":"TOKEN","ttl":"3600"}"#, #"{"token":"TOKEN","ttl":"0s"}"#,
            #"{"token":"TOKEN","ttl":"-5s"}"#, #"{"token":"TOKEN","ttl":"1e9s"}"#, #"{"token":"TOKEN","ttl":"s"}"#,
            #"{"token":"TOKEN","ttl":"604801s"}"#, #"{"token":"TOKEN","ttl":"99999999999s"}"#,
            #"{"token":"TOKEN","token":"TOKEN","ttl":"3600s"}"#, #"{"token":"no jwt","ttl":"3600s"}"#,
            #"{"token":"a.b.c","ttl":"3600s"}"#, #"{"token":"..","ttl":"3600s"}"#,
            "{\"token\":\"TOKEN\",\"ttl\":\"3600s\",\"x\":\"\(String(repeating: "y", count: 65_536))\"}",
            String(repeating: "[", count: 30_000),
        ])
    func malformed(body: String) async throws {
        let scene = try ClientScene()
        scene.service.next { _ in
            ClientResponse(status: 200, body: Array(body.replacing("TOKEN", with: Self.token).utf8))
        }
        #expect(await clientError { _ = try await scene.appCheck.token() }?.code == .malformedReply)
    }

    @Test(
        "a token of another app or project is not used",
        arguments: [
            FakeToken.text(number: 1, subject: "1:1234567890:ios:other"),
            FakeToken.text(number: 1, audience: ["projects/987"]), FakeToken.text(number: 1, audience: []),
            // Equal as Unicode text, and yet another.
            FakeToken.text(number: 1, subject: "1:1234567890:ios:321abc456def7890\u{200B}"),
            FakeToken.text(["aud": ["projects/1234567890"]]),
            FakeToken.text(["sub": ["1:1234567890:ios:321abc456def7890"]]),
        ])
    func foreign(token: String) async throws {
        let scene = try ClientScene()
        scene.service.next { _ in .token(token) }
        #expect(await clientError { _ = try await scene.appCheck.token() }?.code == .foreignToken)
    }
}
