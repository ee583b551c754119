import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

@Suite("Several tokens of a caller")
struct CallerTokensTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"
    private static let blue = "blue-token-0123456789"
    private static let green = "green-token-0123456789"

    private static func hash(_ text: String) -> String { Hex.encode(SHA256.hash(Array(text.utf8))) }

    private static func engine(
        _ caller: String, clock: ManualClock = ManualClock(), sink: RecordingSink = RecordingSink()
    ) throws -> Engine {
        let text = """
            callers:
              root: \(caller)
            projects:
              - number: 1234567890
                id: example-project
                apps: [{id: "1:1234567890:ios:321abc456def7890", providers: {notes: {}}}]
            """
        let secrets = SecretSource { (reference) throws(SecretError) in
            reference.place == .environment("GREEN") ? Array(green.utf8) : nil
        }
        return try Engine(
            registry: Registry([.provider(NotesProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), secrets: secrets,
                logger: TestService.silent), sink: sink)
    }

    private func status(_ engine: Engine, _ token: String) async -> StatusCode? {
        let call = Call("getNote", resource: Self.app, body: ["noteId": "a"], credentials: BearerToken(token))
        if case .failure(let failure) = await engine.handle(call).result { return failure.status }
        return nil
    }

    @Test("Each token is the caller's until its end, and the record says which one it was")
    func rotation() async throws {
        let (clock, sink) = (ManualClock(), RecordingSink())
        let end = clock.now + .seconds(3600)
        let engine = try Self.engine(
            """
            {permissions: [admin], tokens: [
                {name: blue, sha256: \(Self.hash(Self.blue)), expires: \(end)}, {name: green, token: "env:GREEN"}]}
            """, clock: clock, sink: sink)
        #expect(await status(engine, Self.blue) == .notFound)
        #expect(sink.records.last?.caller == "root")
        #expect(sink.records.last?.facts.contains(Fact(.callerToken, .text("blue"))) == true)
        #expect(await status(engine, Self.green) == .notFound)
        #expect(sink.records.last?.facts.contains(Fact(.callerToken, .text("green"))) == true)
        clock.advance(by: .seconds(3600))
        #expect(await status(engine, Self.blue) == .unauthenticated)
        #expect(sink.records.last?.caller == nil)
        #expect(sink.records.last?.detail == "the token `blue` of the caller root ended at \(end)")
        #expect(await status(engine, Self.green) == .notFound)
        #expect(await status(engine, "none-token-0123456789") == .unauthenticated)
    }

    @Test(
        "Wrong tokens are refused at their places",
        arguments: [
            ("tokens: []", "2:40: callers.root.tokens: without a token nobody is this caller"),
            (
                "tokens: [{name: a}]", "2:41: callers.root.tokens[0]: expected either `sha256` or `token`"
            ),
            (
                "tokens: [{name: a b, token: \"env:GREEN\"}]",
                "2:48: callers.root.tokens[0].name: a token's name is 1 to 64 letters, digits, `-`, `.` and `_`"
            ),
            (
                "tokens: [{name: a, token: \"env:GREEN\"}, {name: a, sha256: \(hash(blue))}]",
                "2:79: callers.root.tokens[1].name: another token of the caller has the name `a`"
            ),
            (
                "tokens: [{name: a, token: \"env:GREEN\"}, {name: b, sha256: \(hash(green))}]",
                "2:9: callers.root: another caller has the same bearer token"
            ),
            (
                "tokens: [{name: a, token: \"env:NONE\"}]",
                "2:58: callers.root.tokens[0].token: env:NONE is not set; with `optional: true` the caller would be left out"
            ),
            (
                "tokens: [{name: a, token: \"env:GREEN\", expires: never}]",
                "2:80: callers.root.tokens[0].expires: not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)"
            ),
            (
                "tokens: [{name: a, token: \"env:GREEN\"}], token: \"env:GREEN\"",
                "2:9: callers.root: expected one of `sha256`, `token`, `tokens` and `jwt`, and only one"
            ),
        ])
    func wrong(_ tokens: String, _ expected: String) throws {
        let error = #expect(throws: Diagnostics.self) {
            try Self.engine("{permissions: [admin], \(tokens)}")
        }
        let found = error?.all.map { problem in
            [problem.location.map { "\($0.line):\($0.column)" } ?? "", problem.path, problem.message]
                .filter { !$0.isEmpty }.joined(separator: ": ")
        }
        #expect(found == [expected])
    }

    @Test("A caller has at most eight tokens")
    func limit() {
        let tokens = (0..<9).map { "{name: t\($0), sha256: \(Self.hash("token-\($0)-0123456789"))}" }
        let error = #expect(throws: Diagnostics.self) {
            try Self.engine("{permissions: [admin], tokens: [\(tokens.joined(separator: ", "))]}")
        }
        #expect(error?.all.map(\.message) == ["a caller has at most 8 tokens"])
    }
}
