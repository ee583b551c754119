import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Synchronization
import Testing

@testable import AssayFleetEngine

/// Answers that say neither yes nor no.
private let undecided: [(ScriptedHTTP.Answer, String)] = [
    (.success(OutboundResponse(status: 200)), "truth value"),
    (.success(OutboundResponse(status: 200, body: Array("true".utf8))), "truth value"),
    (answer(#"{"allow": "true"}"#), "truth value"), (answer(#"{"allow": 1}"#), "truth value"),
    (answer(#"{"allow": null}"#), "truth value"), (answer(#"{"allowed": true}"#), "truth value"),
    (answer(#"{"Allow": true}"#), "truth value"), (answer(#"[true]"#), "truth value"),
    (answer(#"{"allow": false, "allow": true}"#), "truth value"), (answer(#"{"allow": true"#), "truth value"),
    (answer(#"{"allow": true} {}"#), "truth value"), (answer("<html></html>"), "truth value"),
    (answer(#"{"allow": true, "more": ""# + String(repeating: "a", count: 5000) + #""}"#), "truth value"),
    (answer(#"{"allow": true}"#, status: 201), "status 201"), (answer(#"{"allow": true}"#, status: 204), "status 204"),
    (answer(#"{"allow": true}"#, status: 302), "status 302"), (answer(#"{"allow": true}"#, status: 401), "status 401"),
    (answer(#"{"allow": false}"#, status: 403), "status 403"), (answer(#"{"allow": true}"#, status: 500), "status 500"),
    (.failure(OutboundFailure(.timedOut, "x")), "timed_out"), (.failure(OutboundFailure(.tooLarge, "x")), "too_large"),
    (.failure(OutboundFailure(.cannotConnect, "x")), "cannot_connect"),
]

private func answer(_ text: String, status: Int = 200) -> ScriptedHTTP.Answer {
    .success(OutboundResponse(status: status, body: Array(text.utf8)))
}

private let yes = answer(#"{"allow": true}"#)
private let no = answer(#"{"allow": false}"#)

@Suite("The callback of Fleet Engine's rules")
struct FleetEngineCallbackTests {
    private static let section = "\(FleetEngineScene.callback)\nroles: {driver: {callback: true}}"

    @Test("Yes is a token, and no a refusal")
    func answers() async throws {
        let scene = try FleetEngineScene(Self.section, answers: [yes, no, yes])
        let first = try await scene.token(.driver, [.vehicle: ["v"]])
        #expect(first.token != nil)
        let second = try await scene.token(.driver, [.vehicle: ["v"]])
        #expect(second.reason == FleetEngineReasons.callback)
        #expect(try await scene.token(.driver, [.vehicle: ["v"]]).token == first.token)
        #expect(scene.counts["callbacks_total allowed"] == 2)
        #expect(scene.counts["callbacks_total refused"] == 1)
    }

    @Test("Whatever is neither leaves it undecided", arguments: undecided)
    func neither(_ answer: ScriptedHTTP.Answer, _ detail: String) async throws {
        let scene = try FleetEngineScene(Self.section, answers: [answer, yes])
        let failure = try await #require(throws: CallFailure.self) {
            try await scene.token(.driver, [.vehicle: ["v"]])
        }
        #expect(failure.status == .unavailable)
        #expect(failure.detail?.contains(detail) == true, "\(failure.detail ?? "")")
        #expect(failure.retryAfter != nil)
        #expect(scene.http.requests.count == 1)
        #expect(scene.counts["callbacks_total failed"] == 1)
        #expect(scene.counts["tokens_total driver minted"] == 0)
    }

    @Test("The backend is told all that the decision is about, and the secret that it knows us by")
    func question() async throws {
        let scene = try FleetEngineScene(Self.section, answers: [yes])
        _ = try await scene.token(.driver, [.vehicle: ["v"]], by: ["sub": "user-1"])
        let request = try #require(scene.http.requests.first)
        #expect(request.method == .post)
        #expect(request.url.text == "https://backend.example.com/fleet")
        #expect(request.header("authorization") == "Bearer callback-0123456789")
        #expect(request.header("content-type") == "application/json")
        #expect(request.timeLimit == .seconds(2))
        #expect(request.responseLimit == 4096)
        #expect(
            try JSON.parse(request.body) == [
                "decision": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "project": "example-project", "role": "driver",
                "ids": ["vehicle": ["v"]], "app": "1:1234567890:ios:321abc456def7890",
                "actor": ["iss": "https://login.example.com/", "sub": "user-1"], "jti": "token-1",
            ])
    }

    @Test("Without a user the backend is told that there is none; of a batch it is told every task")
    func batch() async throws {
        let scene = try FleetEngineScene(
            "\(FleetEngineScene.callback)\nroles: {delivery_server: {callback: true}}", answers: [yes])
        _ = try await scene.token(.deliveryServer, [.task: ["b", "a"]])
        let body = try JSON.parse(try #require(scene.http.requests.first).body)
        #expect(body["actor"] == .null)
        #expect(body["ids"] == ["task": ["a", "b"]])
    }

    @Test("The rest of the rule must hold as well, and is looked at first")
    func both() async throws {
        let scene = try FleetEngineScene(
            "\(FleetEngineScene.callback)\nroles: {driver: {vehicle: {claim: van}, callback: true}}",
            answers: [no, yes])
        let refused = try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "w"])
        #expect(refused.reason == FleetEngineReasons.id)
        #expect(scene.http.requests.isEmpty)
        #expect(
            try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "v"]).reason == FleetEngineReasons.callback)
        #expect(try await scene.token(.driver, [.vehicle: ["v"]], by: ["van": "v"]).token != nil)
    }

    @Test("A star is not even asked about where the rule does not say so")
    func wildcard() async throws {
        let scene = try FleetEngineScene(Self.section, answers: [yes])
        #expect(try await scene.token(.driver, [.vehicle: ["*"]]).reason == FleetEngineReasons.wildcard)
        #expect(scene.http.requests.isEmpty)
        let open = try FleetEngineScene(
            "\(FleetEngineScene.callback)\nroles: {driver: {callback: true, wildcard: true}}", answers: [yes])
        #expect(try await open.token(.driver, [.vehicle: ["*"]]).token != nil)
    }

    @Test("The question takes no more time than the caller has")
    func deadline() async throws {
        let scene = try FleetEngineScene(Self.section, answers: [yes, yes])
        _ = try await scene.token(.driver, [.vehicle: ["v"]], time: .milliseconds(600))
        #expect(scene.http.requests.first?.timeLimit == .milliseconds(500))
        await #expect(throws: CallFailure.self) {
            try await scene.token(.driver, [.vehicle: ["v"]], time: .milliseconds(120))
        }
        #expect(scene.http.requests.count == 1)
    }

    @Test("A crowd beyond the places is told to come back, and the places are free again afterwards")
    func crowding() async throws {
        let count = OperatorCallback.width + 20
        let scene = try FleetEngineScene(Self.section, answers: Array(repeating: yes, count: count + 1))
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                group.addTask { _ = try? await scene.token(.driver, [.vehicle: ["v"]], token: "token \(number)") }
            }
        }
        let (asked, turned) = (scene.counts["callbacks_total allowed"], scene.counts["callbacks_total crowded"])
        #expect(asked + turned == count)
        #expect(asked >= OperatorCallback.width)
        #expect(try await scene.token(.driver, [.vehicle: ["v"]]).token != nil)
    }
}
