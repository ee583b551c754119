import AssayCore
import AssayKit
import AssayTestSupport
import Testing

@Suite("Failures of calls", .timeLimit(.minutes(20)))
struct FailureTests {
    private static let request = TestGateway.post("/v1/projects/1/apps/2:exchangeDebugToken", "{}")

    @Test(
        "each status has its HTTP status, and the reason stays inside",
        arguments: zip(StatusCode.allCases, [400, 400, 401, 403, 404, 409, 409, 429, 501, 503, 500]))
    func statuses(status: StatusCode, http: Int) async throws {
        let handler = FakeHandler { _ in
            .failure(
                CallFailure(
                    status, "Told \"to\"\r\nthe client.", reason: Reason("a_reason", "in words"), detail: "a_detail"))
        }
        let reply = try await TestGateway.answer(to: Self.request, handler: handler)
        #expect(reply.status == http)
        let expected: JSON = [
            "error": [
                "code": .integer(Int64(http)),
                "message": "Told \"to\"\r\nthe client.",
                "status": .string(status.rawValue),
                "details": [
                    ["@type": "type.googleapis.com/google.rpc.RequestInfo", "requestId": "01DECISION"]
                ],
            ]
        ]
        #expect(try reply.json == expected)
        #expect(reply["x-assay-decision"] == "01DECISION")
        #expect(reply["cache-control"] == "no-store")
        #expect(reply["retry-after"] == nil)
        let everything = String(decoding: reply.body, as: UTF8.self) + "\(reply.headers)"
        #expect(!everything.contains("a_reason"))
        #expect(!everything.contains("a_detail"))
        #expect(!everything.contains("in words"))
    }

    @Test(
        "a retry is asked for in whole seconds, rounded up",
        arguments: [
            (Duration.seconds(30), "30"), (.milliseconds(1001), "2"), (.zero, "1"), (.seconds(-5), "1"),
            (.seconds(Int64.max), "\(Int64.max - 1)"),
        ])
    func retryAfter(wait: Duration, seconds: String) async throws {
        let handler = FakeHandler { _ in .failure(CallFailure(.unavailable, "Later.", retryAfter: wait)) }
        #expect(try await TestGateway.answer(to: Self.request, handler: handler)["retry-after"] == seconds)
    }

    @Test("a key set that cannot be had is not cached")
    func keySet() async throws {
        let handler = FakeHandler { _ in .failure(CallFailure(.unavailable, "Later.")) }
        let reply = try await TestGateway.answer(to: TestGateway.get("/v1/jwks"), handler: handler)
        #expect(reply.status == 503)
        #expect(reply["cache-control"] == "no-store")
    }
}
