import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@Suite("The engine for tests of plugins")
struct TestEngineTests {
    private let http = ScriptedHTTP([.success(OutboundResponse(status: 200, body: Array(#"{"known": false}"#.utf8)))])

    @Test("It issues tokens, keeps records, and has a clock, a store and servers that a test moves")
    func engine() async throws {
        let subject = StatementDevice.subject
        let engine = try TestEngine(
            [.provider(StatementProvider<Correct, DescribedSection>.self)],
            policy: TestEngine.policy(providers: "statement:\n  clients: [{name: client-1, key: env:CLIENT}]"),
            secrets: subject.secrets, http: http)
        let reply = await engine.call("exchangeStatement", TestEngine.app, ["client": "client-1"])
        guard case .failure(let failure) = reply.result else {
            Issue.record("a request without evidence was accepted")
            return
        }
        #expect(failure.status == .invalidArgument)
        #expect(engine.record(of: reply)?.method == "exchangeStatement")
        #expect(http.requests.isEmpty)
        await #expect(throws: CallFailure.self) { try await engine.challenge("exchangeStatement") }
    }

    @Test("A policy that is wrong is an error")
    func wrong() {
        #expect(throws: (any Error).self) { try TestEngine([], policy: TestEngine.policy(providers: "nobody: {}")) }
    }
}
