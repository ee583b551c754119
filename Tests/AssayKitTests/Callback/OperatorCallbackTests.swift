import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Foundation
import Logging
import Testing

@Suite("The callback to an operator's backend")
struct OperatorCallbackTests {
    private let clock = ManualClock()

    private func callback(_ http: ScriptedHTTP, secret: String? = "a-secret") throws -> OperatorCallback {
        let section = #"{"url": "https://backend.example.com/allow", "token": "env:CALLBACK"}"#
        let configuration = try JSONDecoder().decode(OperatorCallbackConfiguration.self, from: Data(section.utf8))
        return try OperatorCallback(
            configuration, at: ["callback"],
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
                secrets: SecretSource { _ in secret.map { Array($0.utf8) } },
                http: http, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }),
            name: "the callback for tests")
    }

    private let requester = OperatorCallback.Requester(subject: "user-1", peer: nil)

    @Test("An explicit yes allows, an explicit no refuses, and the question is sent with the secret")
    func answers() async throws {
        let http = ScriptedHTTP([answer(#"{"allow": true}"#), answer(#"{"allow": false, "why": "late"}"#)])
        let callback = try callback(http)
        #expect(try await callback.allows(["door": "front"], for: requester, deadline: clock.now + .seconds(5)))
        #expect(try await !callback.allows(["door": "back"], for: requester, deadline: clock.now + .seconds(5)))
        let request = try #require(http.requests.first)
        #expect(request.header("authorization") == "Bearer a-secret")
        #expect(request.body == Array(#"{"door":"front"}"#.utf8))
        #expect(request.timeLimit == .seconds(2))
    }

    @Test(
        "Everything else leaves the question undecided",
        arguments: ["", "{}", "true", #"{"allow": "yes"}"#, #"{"allow": 1}"#, #"{"allow": true, "allow": false}"#])
    func undecided(_ text: String) async throws {
        let callback = try callback(ScriptedHTTP([answer(text)]))
        let error = await #expect(throws: CallFailure.self) {
            try await callback.allows([:], for: requester, deadline: clock.now + .seconds(5))
        }
        #expect(error?.status == .unavailable)
        #expect(error?.detail?.hasPrefix("the callback for tests: ") == true)
    }

    @Test("Without time nothing is asked")
    func deadline() async throws {
        let http = ScriptedHTTP([answer(#"{"allow": true}"#)])
        let callback = try callback(http)
        await #expect(throws: CallFailure.self) {
            try await callback.allows([:], for: requester, deadline: clock.now + .milliseconds(120))
        }
        #expect(http.requests.isEmpty)
    }

    @Test("A secret that is missing or no bearer token is an error at its place", arguments: [nil, "", "two words"])
    func secrets(_ secret: String?) throws {
        let error = #expect(throws: ConfigurationError.self) { try callback(ScriptedHTTP([]), secret: secret) }
        #expect(error?.all.first?.path == ["callback", "token"])
    }

    private func answer(_ text: String) -> ScriptedHTTP.Answer {
        .success(OutboundResponse(status: 200, body: Array(text.utf8)))
    }
}
