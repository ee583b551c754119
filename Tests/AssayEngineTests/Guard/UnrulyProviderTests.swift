import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTestSupport
import AssayTesting
import Testing

/// One test at a time: they share the brake.
@Suite("A provider that does what no provider should harms only itself", .serialized, .timeLimit(.minutes(20)))
struct UnrulyProviderTests {
    private let service: TestService
    private let metrics = CountingMeter()
    private let log = RecordingLog()

    init() throws {
        UnrulyProvider.brake.hold()
        service = try TestService(
            plugins: [.provider(UnrulyProvider.self)], providers: "          unruly: {}",
            http: ScriptedHTTP([]), logger: log.logger, meter: metrics.meter)
    }

    private func exchange(_ deed: String, _ members: [JSONMember] = []) async -> Reply {
        await service.call(
            "exchangeUnrulyEvidence", TestService.app, .object([JSONMember("deed", .string(deed))] + members))
    }

    /// Whether another provider's calls are answered.
    private func othersAreAnswered() async -> Bool {
        let reply = await service.call(
            "exchangeDebugToken", TestService.app, ["debugToken": .string(TestService.debugToken)])
        return reply.status == nil
    }

    /// The replies of calls whose time passes.
    private func answers(_ calls: [Task<Reply, Never>]) async -> [Reply] {
        let clock = service.clock
        // A call may begin to wait after any step of the clock.
        let time = Task {
            while (try? await Task.sleep(for: .milliseconds(20))) != nil { clock.advance(by: .seconds(10)) }
        }
        defer { time.cancel() }
        var replies: [Reply] = []
        for call in calls { replies.append(await call.value) }
        return replies
    }

    private func detail(_ reply: Reply) -> String { service.sink.record(of: reply.decision)?.detail ?? "" }

    @Test("What hangs beyond its cancellation is answered at the time limit; its place stays taken until it ends")
    func hangs() async throws {
        let calls = (0..<6).map { _ in Task { await exchange("hang") } }
        await UnrulyProvider.brake.waitForWaiters(6)
        #expect(await othersAreAnswered())
        let refused = await exchange("good")
        #expect(refused.status == .unavailable)
        #expect(detail(refused).contains("as many calls as it may have"))
        for reply in await answers(calls) {
            #expect(reply.status == .unavailable)
            #expect(detail(reply).contains("took too long"))
        }
        #expect(await exchange("good").status == .unavailable, "calls that continue are still calls")
        #expect(metrics["plugin_abandoned_calls", "unruly"] == 6)
        #expect(metrics["plugin_limits_exceeded_total", "unruly", "time"] == 6)
        #expect(log.lines.contains { $0.contains("answered without it") })
        UnrulyProvider.brake.release()
        while await exchange("good").status != nil { await Task.yield() }
        while metrics["plugin_abandoned_calls", "unruly"] != 0 { await Task.yield() }
    }

    @Test(
        "What blocks its threads, also while it reads a request, stops no other plugin",
        arguments: [
            "block", "block while reading",
        ])
    func blocks(_ deed: String) async throws {
        let calls = (0..<6).map { _ in Task { await exchange(deed) } }
        // A plugin has four threads.
        await UnrulyProvider.brake.waitForWaiters(4)
        for _ in 0..<20 { #expect(await othersAreAnswered()) }
        for reply in await answers(calls) { #expect(reply.status == .unavailable) }
        UnrulyProvider.brake.release()
    }

    @Test("What uses too much CPU time is answered without it")
    func spins() async {
        let reply = await exchange("spin")
        #expect(reply.status == .unavailable)
        #expect(detail(reply).contains("too much CPU time"))
        UnrulyProvider.brake.release()
    }

    @Test("What uses too much CPU time without waiting is counted, although its answer came first")
    func spinsAndAnswers() async throws {
        #expect(await exchange("spin and answer").status == nil)
        // It is counted when the thread is free again.
        for _ in 0..<3000 where metrics["plugin_limits_exceeded_total", "unruly", "cpu_time"] != 1 {
            try await Task.sleep(for: .milliseconds(20))
        }
        #expect(metrics["plugin_limits_exceeded_total", "unruly", "cpu_time"] == 1)
    }

    @Test(
        "What breaks the contract gives no token",
        arguments: [
            ("megabyte", "replies with more than 1024 bytes"), ("reason", "undeclared reason: unruly_other"),
            ("fact", "undeclared fact: actor"), ("many facts", "more than 32 facts"),
            ("fact twice", "states the fact count twice"),
            ("long fact", "the fact note with a value that is not of its type"),
            ("fact of another type", "the fact count"), ("unknown word", "the fact level"),
            ("no version", "the fact build"), ("other answer", "is not in `answers` of its descriptor"),
            ("many uses", "uses up more than 8 things"), ("one use twice", "two changes of one key"),
            ("use of others", "a namespace that is not its own"),
            ("use with a reason", "undeclared reason: unruly_other"),
        ])
    func faults(_ deed: String, _ words: String) async {
        let reply = await exchange(deed)
        #expect(reply.status == .internalError)
        #expect(detail(reply).contains(words), "\(detail(reply))")
        #expect(detail(reply).utf8.count <= 1000)
        #expect(metrics["plugin_faults_total", "unruly"] == 1)
    }

    private func exchangeChallenge(_ deed: String) async throws -> Reply {
        let issued = await service.call("generateUnrulyChallenge", TestService.app, [:])
        let challenge = try #require(issued.result.get()["challenge"]?.string)
        return await service.call(
            "exchangeUnrulyChallenge", TestService.app, ["deed": .string(deed), "challenge": .string(challenge)])
    }

    @Test(
        "Where the challenge is not stored, a verdict whose uses do not last as long is a fault that counts like others",
        arguments: [
            ("no uses", "uses up nothing where the challenge is not stored"),
            ("short uses", "uses up only what expires before the challenge does"),
            ("past use", "uses up only what expires before the challenge does"),
        ])
    func unstoredChallenges(_ deed: String, _ words: String) async throws {
        for count in 1...16 {
            let reply = try await exchangeChallenge(deed)
            #expect(reply.status == .internalError)
            #expect(detail(reply).contains(words), "\(detail(reply))")
            #expect(metrics["plugin_faults_total", "unruly"] == Double(count))
        }
        #expect(detail(await exchange("good")).contains("kept failing"))
        #expect(metrics["plugin_resting_instances", "unruly"] == 1)
    }

    @Test("One use that lasts as long as the challenge is enough", arguments: ["lasting use", "counter"])
    func lastingUses(_ deed: String) async throws {
        #expect(try await exchangeChallenge(deed).status == nil)
        #expect(try await exchangeChallenge(deed).status == .permissionDenied, "it is used up")
        #expect(metrics["plugin_faults_total", "unruly"] == 0)
    }

    @Test(
        "What a stranger makes of facts of a refusal is no fault: ill-typed ones are dropped and named, however often")
    func refusedFacts() async throws {
        for _ in 0..<20 {
            let reply = await exchange("refused facts")
            #expect(reply.status == .permissionDenied)
            let record = try #require(service.sink.record(of: reply.decision))
            #expect(record.facts.contains(Fact("note", .text("kept"))))
            #expect(!record.facts.contains { $0.name == "count" || $0.name == "build" })
            #expect(
                detail(reply)
                    == "the count is odd; dropped facts whose values are not of their types: count, build")
        }
        let many = await exchange("many refused facts")
        #expect(detail(many) == "dropped all facts after the first 32")
        let counts = service.sink.record(of: many.decision)?.facts.filter { $0.name == "count" }
        #expect(counts?.count == 32)
        #expect(metrics["plugin_faults_total", "unruly"] == 0)
        #expect(await exchange("good").status == nil, "it is called on")
    }

    @Test("A provider's own answers are those that it declares, and that it cannot decide now")
    func answers() async {
        let own = await exchange("own answer")
        #expect(own.status == .resourceExhausted)
        let later = await exchange("not now")
        guard case .failure(let failure) = later.result else {
            Issue.record("it was answered")
            return
        }
        #expect(failure.status == .unavailable)
        #expect(failure.message.isExactly("The service is currently unavailable."))
        #expect(failure.retryAfter == .seconds(7))
        #expect(detail(later).contains("The vendor said 5."))
    }

    @Test("One call writes and calls only so often", arguments: ["write", "write by the host"])
    func writes(_ deed: String) async throws {
        let reply = await exchange(deed)
        #expect(reply.status == .unavailable)
        #expect(detail(reply).contains("all 3 writes"))
        let space = deed.isExactly("write") ? "unruly/\(TestService.appByNumber)" : "unruly"
        #expect(try await service.store.list(space, after: nil, limit: 100).count == 3)
        #expect(metrics["plugin_limits_exceeded_total", "unruly", "store_writes"] == 1)
    }

    @Test("A plugin reaches only its own namespaces", arguments: ["reach", "reach near"])
    func reaches(_ deed: String) async throws {
        let reply = await exchange(deed)
        #expect(reply.status == .internalError)
        #expect(detail(reply).contains("not its own"))
        #expect(try await service.store.list("app_attest/x", after: nil, limit: 10).isEmpty)
    }

    @Test("Lists count towards the size of evidence")
    func lists() async {
        let pieces = JSON.array(Array(repeating: .string(String(repeating: "x", count: 500)), count: 3))
        let reply = await exchange("good", [JSONMember("pieces", pieces)])
        #expect(reply.status == .invalidArgument)
        #expect(await exchange("good", [JSONMember("pieces", ["a", "b"])]).status == nil)
    }

    @Test("A provider that keeps throwing is not called for a while; then one call tries")
    func throwing() async {
        func health() -> String? {
            service.engine.pluginHealth.first { $0.kind == .provider && $0.name.isExactly("unruly") }?.summary
        }
        for _ in 0..<15 { #expect(detail(await exchange("throw")).contains("Fault")) }
        #expect(health() == "ready")
        #expect(detail(await exchange("throw")).contains("Fault"))
        let reason = "its calls kept failing, for \(TestService.appByNumber)"
        #expect(health() == "failing: \(reason)")
        #expect(await service.engine.readiness == .degraded("the provider unruly fails: \(reason)"))
        let resting = await exchange("good")
        #expect(resting.status == .unavailable)
        #expect(detail(resting).contains("kept failing"))
        #expect(metrics["plugin_resting_instances", "unruly"] == 1)
        #expect(await othersAreAnswered())
        service.clock.advance(by: .seconds(5))
        #expect(health() == "failing: \(reason)", "it is not known to be better")
        #expect(await exchange("good").status == nil)
        #expect(health() == "ready")
        #expect(await service.engine.readiness == .ready)
        #expect(await exchange("good").status == nil)
        #expect(metrics["plugin_resting_instances", "unruly"] == 0)
    }

    @Test("What an instance says that is wrong degrades the service, and nothing else")
    func problem() async {
        _ = await exchange("say a problem")
        let words = "the provider unruly fails: the list is of last week, for \(TestService.appByNumber)"
        #expect(await service.engine.readiness == .degraded(words))
        #expect(await exchange("good").status == nil)
        #expect(await service.engine.readiness == .degraded(words))
        _ = await exchange("take it back")
        #expect(await service.engine.readiness == .ready)
    }

    @Test("A provider that keeps saying that it cannot decide is called, and operators are told")
    func undecided() async {
        for _ in 0..<15 { #expect(await exchange("not now").status == .unavailable) }
        #expect(await service.engine.readiness == .ready)
        #expect(await exchange("not now").status == .unavailable)
        let reason = "its calls kept failing, for \(TestService.appByNumber)"
        #expect(await service.engine.readiness == .degraded("the provider unruly fails: \(reason)"))
        #expect(detail(await exchange("not now")).contains("The vendor said 5."))
        #expect(metrics["plugin_resting_instances", "unruly"] == 0)
        #expect(await exchange("good").status == nil)
        #expect(await service.engine.readiness == .ready)
    }
}
