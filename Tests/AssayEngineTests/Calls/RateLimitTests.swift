import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

@Suite("How many calls of an app are answered")
struct RateLimitTests {
    private static let app = TestService.app
    private static let client = TestService.client

    /// An engine with a debug provider, and a clock.
    private struct Service {
        let clock = ManualClock()
        let sink = RecordingSink()
        let engine: Engine

        init(_ limit: String, client: String = "") throws {
            engine = try Engine(
                registry: Registry([.provider(DebugProvider.self)]), policies: Self.policies(limit, client: client),
                keys: .pooled(),
                host: PluginHost(
                    clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent),
                sink: sink)
        }

        static func policies(_ limit: String, client: String = "") throws -> PolicySet {
            try .load([PolicyFile(name: "test.yaml", text: text(limit, client: client))])
        }

        static func text(_ limit: String, client: String = "") -> String {
            """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    \(limit)
                    providers:
                      debug: {tokens: [{name: a, sha256: \(Hex.encode(DebugToken.hash(of: TestService.debugToken)))}]}
                  - id: 1:1234567890:ios:0000000000000001
                    providers:
                      debug: {tokens: [{name: a, sha256: \(Hex.encode(DebugToken.hash(of: TestService.debugToken)))}]}
                oauth_clients:
                  - id: 1234567890-example.apps.googleusercontent.com
                    app: 1:1234567890:ios:321abc456def7890
                    \(client)
            """
        }

        func call(_ resource: String = app, token: String = TestService.debugToken) async -> Reply {
            await engine.handle(Call("exchangeDebugToken", resource: resource, body: ["debugToken": .string(token)]))
        }

        /// How many of some calls one after the other are let through.
        func passing(_ count: Int, _ resource: String = app) async -> Int {
            var passed = 0
            for _ in 0..<count where await call(resource).status != .resourceExhausted { passed += 1 }
            return passed
        }
    }

    @Test("a burst is let through, then the rate, and no more than the burst after a long pause")
    func bucket() async throws {
        let service = try Service("rate_limit: {requests: 60, interval: 1m, burst: 3}")
        #expect(await service.passing(10) == 3)
        service.clock.advance(by: .milliseconds(999))
        #expect(await service.passing(10) == 0)
        service.clock.advance(by: .milliseconds(1))
        #expect(await service.passing(10) == 1)
        service.clock.advance(by: .seconds(2))
        #expect(await service.passing(10) == 2)
        service.clock.advance(by: .seconds(86_400))
        #expect(await service.passing(10) == 3)
    }

    @Test("whoever has to wait is told for how long, and a call after that time passes")
    func wait() async throws {
        let service = try Service("rate_limit: {requests: 2, interval: 1h, burst: 1}")
        #expect(await service.passing(1) == 1)
        service.clock.advance(by: .seconds(100))
        let reply = await service.call()
        guard case .failure(let failure) = reply.result else {
            Issue.record("it succeeded")
            return
        }
        #expect(failure.status == .resourceExhausted)
        #expect(failure.reason?.code == "rate_limited")
        #expect(failure.retryAfter == .seconds(1700))
        guard case .refused(KernelReasons.rateLimited)? = service.sink.records.last?.outcome else {
            Issue.record("it is not on record as refused for this reason")
            return
        }
        service.clock.advance(by: .seconds(1700))
        #expect(await service.passing(2) == 1)
    }

    @Test("evidence that is bad costs as much as good evidence, and is not looked at beyond the limit")
    func badEvidence() async throws {
        let service = try Service("rate_limit: {requests: 2}")
        #expect(await service.call(token: "wrong").reason == "debug_token_unknown")
        #expect(await service.call(token: "wrong").reason == "debug_token_unknown")
        #expect(await service.call(token: "wrong").reason == "rate_limited")
    }

    @Test("another app, and an OAuth client, are counted by themselves; both names of an app count as one")
    func separate() async throws {
        let service = try Service("rate_limit: {requests: 2}")
        #expect(await service.passing(1, TestService.appByNumber) == 1)
        #expect(await service.passing(5) == 1)
        #expect(await service.passing(50, TestService.otherApp) == 50)
        #expect(await service.passing(5, Self.client) == 2)
        let own = try Service("rate_limit: {requests: 2}", client: "rate_limit: {requests: 7}")
        #expect(await own.passing(9, Self.client) == 7)
    }

    @Test("without a limit every call is answered")
    func unlimited() async throws {
        #expect(try await Service("").passing(200) == 200)
    }

    @Test("a reload does not fill the bucket again, unless the limit is another one")
    func reload() async throws {
        let limit = "rate_limit: {requests: 3, interval: 1h}"
        let service = try Service(limit)
        #expect(await service.passing(5) == 3)
        try service.engine.replacePolicies(Service.policies(limit))
        #expect(await service.passing(5) == 0)
        try service.engine.replacePolicies(Service.policies("rate_limit: {requests: 4, interval: 1h}"))
        #expect(await service.passing(5) == 4)
    }

    @Test("of many calls at once exactly the burst is let through")
    func together() async throws {
        let service = try Service("rate_limit: {requests: 20, interval: 1d}")
        let passed = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<100 { group.addTask { await service.call().status != .resourceExhausted } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(passed == 20)
    }

    @Test(
        "a limit that means nothing is refused at its place",
        arguments: [
            "{}", "{requests: 0}", "{requests: -1}", "{requests: 1000001}", "{requests: 1, burst: 0}",
            "{requests: 1, interval: 0s}", "{requests: 1, interval: 2d}", "{requests: 1, per: 1s}", "5",
            "{requests: 99999999999999999999}",
        ])
    func wrong(limit: String) throws {
        #expect(throws: (any Error).self) { try Service.policies("rate_limit: \(limit)") }
    }
}
