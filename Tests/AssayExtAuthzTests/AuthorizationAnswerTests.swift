import AssayCore
import AssayKit
import SwiftProtobuf
import Testing

@testable import AssayExtAuthz

/// Statuses of failures, and the two of the answer.
private let statuses: [(StatusCode, Int32, Int32)] = [
    (.unauthenticated, 16, 401), (.permissionDenied, 7, 403), (.invalidArgument, 7, 403), (.notFound, 7, 403),
    (.failedPrecondition, 7, 403), (.alreadyExists, 7, 403), (.unimplemented, 7, 403), (.unavailable, 14, 503),
    (.internalError, 14, 503), (.resourceExhausted, 14, 503), (.aborted, 14, 503),
]

/// Replies with something that no header can carry.
private let unfit: [JSON] = [
    "text", ["appId": 7], ["appId": "a\r\nx-appcheck-jti: b"], ["jti": "é"], ["provider": ""], ["consumed": []],
    ["appId": .string(String(repeating: "a", count: 16_385))],
]

@Suite("What Envoy is told")
struct AuthorizationAnswerTests {
    @Test("every status of the kernel but success is a denial with its own codes", arguments: statuses)
    func denials(status: StatusCode, code: Int32, http: Int32) {
        let response = answer(.failure(CallFailure(status, "No.")))
        #expect(response.isDenial)
        #expect(response.status.code == code)
        #expect(response.status.message == "No.")
        #expect(response.deniedResponse.status.code == http)
        #expect(response.refusal["x-assay-decision"] == "01DECISION")
        #expect((response.refusal["www-authenticate"] != nil) == (http == 401))
    }

    @Test("the table names every status")
    func complete() {
        #expect(Set(statuses.map(\.0)) == Set(StatusCode.allCases))
    }

    @Test("a reply that no header can carry is a denial", arguments: unfit)
    func unfitReplies(reply: JSON) {
        let response = answer(.success(reply))
        #expect(response.isDenial)
        #expect(response.status.code == 14)
        #expect(response.deniedResponse.status.code == 503)
        #expect(response.deniedResponse.headers.count == 1)
    }

    @Test("a check that cannot be read is a denial")
    func unreadable() {
        let response = AuthorizationAnswer(UnreadableCheck("a secret")).response
        #expect(response.isDenial)
        #expect(response.status.code == 7)
        #expect(response.deniedResponse.status.code == 403)
        #expect(!response.status.message.contains("secret"))
    }

    @Test("findings replace what the client sent under their names")
    func findings() {
        let response = answer(
            .success(["appId": "1:2:ios:3", "jti": "j", "provider": "app_attest", "consumed": true]),
            claimed: ["x-appcheck-app-id", "x_appcheck_app_id", "x-appcheck-other"])
        #expect(response.isLeave)
        #expect(
            response.findings == [
                "x-appcheck-app-id": "1:2:ios:3", "x-appcheck-jti": "j", "x-appcheck-provider": "app_attest",
                "x-appcheck-consumed": "true",
            ])
        #expect(response.okResponse.headers.allSatisfy { $0.appendAction == .overwriteIfExistsOrAdd })
        #expect(
            response.okResponse.headersToRemove == [
                "x-appcheck-other", "x-envoy-auth-failure-mode-allowed", "x-firebase-appcheck", "x_appcheck_app_id",
            ])
    }

    @Test("what was not found is taken away, whether or not Envoy showed that the client sent it")
    func nothingFound() {
        let response = answer(.success(["provider": nil]))
        #expect(response.isLeave)
        #expect(response.okResponse.headers.isEmpty)
        #expect(
            response.okResponse.headersToRemove == [
                "x-appcheck-app-id", "x-appcheck-consumed", "x-appcheck-jti", "x-appcheck-provider",
                "x-envoy-auth-failure-mode-allowed", "x-firebase-appcheck",
            ])
    }

    @Test("the longest value that Envoy takes is told")
    func longest() {
        #expect(answer(.success(["appId": .string(String(repeating: "a", count: 16_384))])).isLeave)
    }

    @Test("that a token was not consumed is told, too")
    func notConsumed() {
        #expect(answer(.success(["consumed": false])).findings == ["x-appcheck-consumed": "false"])
    }

    @Test("the token is left in the request where that is wanted")
    func forwards() {
        let response = answer(.success([:]), forwardsToken: true)
        #expect(!response.okResponse.headersToRemove.contains("x-firebase-appcheck"))
    }

    @Test("when to come back and what else the client is told stand in headers, if they can")
    func metadata() {
        let response = answer(
            .failure(
                CallFailure(
                    .unauthenticated, "No.", retryAfter: .milliseconds(1500),
                    metadata: [
                        .init("x-challenge", "abc"), .init("www-authenticate", "DPoP error=\"use_dpop_nonce\""),
                        .init("X-Upper", "a"), .init("x-split", "a\r\nb: c"), .init("", "a"),
                    ])))
        #expect(
            response.refusal == [
                "retry-after": "2", "x-challenge": "abc", "www-authenticate": "DPoP error=\"use_dpop_nonce\"",
                "x-assay-decision": "01DECISION",
            ])
        #expect(response.deniedResponse.headers.allSatisfy { $0.appendAction == .overwriteIfExistsOrAdd })
    }

    @Test("reasons and details stay here")
    func secrets() throws {
        let reason = Reason("token_revoked_secretly", "A reason that clients do not learn.")
        let response = answer(
            .failure(CallFailure(.permissionDenied, "No.", reason: reason, detail: "a detail of the operator's")))
        let bytes: [UInt8] = try response.serializedBytes()
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(!text.contains("secretly"))
        #expect(!text.contains("detail"))
    }

    private func answer(
        _ result: Result<JSON, CallFailure>, claimed: Set<ExactText> = [], forwardsToken: Bool = false
    ) -> CheckResponse {
        AuthorizationAnswer(
            Reply(decision: DecisionID(text: "01DECISION"), result: result),
            findings: MethodDescriptor.verifyRequest().binding.replyHeaders ?? [], claimed: claimed,
            forwardsToken: forwardsToken
        ).response
    }
}
