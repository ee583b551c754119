import AssayCore
import AssayHTTP
import AssayHTTPServer
import AssayKit
import AssayTestSupport
import AssayTesting
import Testing

@Suite("What is logged of requests that never become calls", .timeLimit(.minutes(20)))
struct RefusalLogTests {
    private static let exchange = "/v1/projects/1/apps/1:2:ios:ab:exchangeDebugToken"

    @Test(
        "one line each, with the status, the path and the peer",
        arguments: [
            (
                TestServer.post("/v1/projects/1/apps/1:2:ios:ab:exchangePlayIntegrityToken?key=AIza", "{}"),
                "detail=\"Method not found.\" "
                    + "path=/v1/projects/1/apps/1:2:ios:ab:exchangePlayIntegrityToken peer=127.0.0.1 status=404 verb=POST"
            ),
            (
                TestServer.get("/v1/jwks%0A2026-01-01%20info"),
                "detail=\"The path of the request is not valid.\" "
                    + "path=/v1/jwks%0A2026-01-01%20info peer=127.0.0.1 status=400 verb=GET"
            ),
            (
                TestServer.get("/" + String(repeating: "a", count: 9000)),
                "detail=\"Method not found.\" path=/\(String(repeating: "a", count: 199)) "
                    + "peer=127.0.0.1 status=404 verb=GET"
            ),
            ("GARBAGE\r\n\r\n", "detail=\"The request is not valid HTTP.\" peer=127.0.0.1 status=400"),
        ])
    func refused(request: String, line: String) async throws {
        #expect(try await lines(of: request) == ["request refused " + line])
    }

    @Test("nothing of a body is in it")
    func body() async throws {
        let lines = try await lines(of: TestServer.post(Self.exchange, #"{"debug_token":"a secret"#))
        #expect(lines.count == 1)
        #expect(lines.first?.contains("status=400") == true)
        #expect(lines.first?.contains("a secret") == false)
    }

    @Test("a call is not logged here: the kernel puts it on record")
    func call() async throws {
        #expect(try await lines(of: TestServer.post(Self.exchange, "{}")).isEmpty)
    }

    @Test("of a flood the first lines are there, and then one line in a minute with the number of each status")
    func flood() {
        let (log, clock) = (RecordingLog(), ManualClock())
        let refusals = RefusalLog(log.logger, clock: clock.hostClock)
        for second in 0..<60 {
            for number in 0..<1000 {
                refusals.refused(number < 900 ? 404 : 400, peer: "10.\(number % 7).0.\(second)") { [:] }
            }
            clock.advance(by: .seconds(1))
        }
        // Ten a second, and a burst of 200.
        #expect(log.lines.count { $0.hasPrefix("request refused") } == 200 + 59 * 10)
        refusals.flush(early: true)
        let sums = log.lines.filter { $0.hasPrefix("refused requests summed") }
        #expect(sums.count == 1)
        #expect(sums.first?.contains("count=\(60_000 - 790) ") == true, "\(sums)")
        #expect(sums.first?.contains("404: ") == true)
        #expect(sums.first?.contains("400: ") == true)
    }

    private func lines(of request: String) async throws -> [String] {
        let log = RecordingLog()
        _ = try await TestServer.answer(to: request, logger: log.logger)
        return log.lines.filter { $0.hasPrefix("request ") }
    }
}
