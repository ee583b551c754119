import AssayCore
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import Synchronization
import Testing
@testable import AssayServices

@Suite("Decisions about strangers on record")
struct SampledDecisionsTests {
    private static let invented = "projects/nobody/apps/1:2:ios:ab"

    private let clock = ManualClock()
    private let recorded = SummarySink()
    private let counted = RecordingSink()
    private let decisions: SampledDecisions
    private let engine: Engine

    init() throws {
        let isFull = Flag()
        full = isFull
        decisions = SampledDecisions([recorded], clock: clock.hostClock, isHeldBack: { isFull.value })
        let text = """
            callers:
              root: {sha256: "\(Hex.encode(DebugToken.hash(of: AdminService.admin)))", permissions: [admin]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: \(AdminService.appID)
                    providers: {debug: {tokens: [{name: a, sha256: \(AdminService.debugHash)}]}}
                  - id: 1:1234567890:ios:0000000000000002
                    providers: {debug: {tokens: [{name: a, sha256: \(AdminService.debugHash)}]}}
            """
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), logger: TestService.silent),
            sink: DecisionSinks([decisions, counted]))
    }

    private let full: Flag

    @discardableResult
    private func exchange(
        _ resource: String, _ token: String = "wrong", peer: String = "192.0.2.1", count: Int = 1
    ) async -> Reply {
        var reply: Reply?
        for _ in 0..<count {
            reply = await engine.handle(
                Call("exchangeDebugToken", resource: resource, body: ["debugToken": .string(token)], peer: peer))
        }
        return reply ?? Reply(decision: DecisionID(text: ""), result: .success([:]))
    }

    @Test("Requests for invented apps leave a bounded number of records, one sum a minute, and all of them in metrics")
    func inventedApps() async throws {
        for second in 0..<120 {
            for number in 0..<50 {
                await exchange("projects/p\(second)/apps/1:2:ios:\(number)", peer: "10.0.\(number).\(second)")
            }
            clock.advance(by: .seconds(1))
        }
        decisions.close()
        let kept = 200 + 119 * 10
        #expect(recorded.records.count == kept)
        #expect(counted.records.count == 6000)
        #expect((1...3).contains(recorded.summaries.count))
        #expect(recorded.summaries.reduce(0) { $0 + $1.total } == 6000 - kept)
        let group = try #require(recorded.summaries.first?.groups.first)
        #expect(recorded.summaries.allSatisfy { $0.groups.count == 1 && $0.others == 0 })
        #expect(group.method == "exchangeDebugToken")
        #expect(group.outcome == "rejected")
        #expect(group.cause == "NOT_FOUND" || group.cause == "INVALID_ARGUMENT")
        #expect(group.subject == nil)
    }

    @Test("One address does not use up what all have: refusals of a genuine app are on record beside its flood")
    func besideFlood() async throws {
        await exchange(Self.invented, count: 1000)
        await exchange(AdminService.app, count: 1000)
        let reply = await exchange(AdminService.app, peer: "198.51.100.7")
        #expect(recorded.records.contains { $0.decision == reply.decision })
        #expect(recorded.records.count == 101)
    }

    @Test("What was verified is on record whatever floods there are: issued tokens, and what known callers do")
    func verified() async throws {
        await exchange(Self.invented, count: 300)
        for number in 0..<300 { await exchange(Self.invented, peer: "10.0.0.\(number % 250)") }
        for number in 0..<300 {
            let reply = await exchange(AdminService.app, AdminService.debugToken)
            #expect(recorded.records.last?.decision == reply.decision, "\(number)")
            let listed = await engine.handle(
                Call(
                    "listDebugTokens", resource: AdminService.app, peer: "192.0.2.1",
                    credentials: BearerToken(AdminService.admin)))
            #expect(recorded.records.last?.decision == listed.decision)
        }
    }

    @Test("Junk evidence for one known app does not keep refusals of another one off the record")
    func apps() async throws {
        for number in 0..<1000 { await exchange(AdminService.app, peer: "10.\(number / 250).0.\(number % 250)") }
        #expect(recorded.records.count == 200)
        let reply = await exchange(AdminService.secondApp, peer: "10.9.9.9")
        #expect(recorded.records.last?.decision == reply.decision)
        clock.advance(by: .seconds(60))
        decisions.flush()
        let groups = recorded.summaries.flatMap(\.groups)
        #expect(groups.map(\.count) == [800])
        #expect(groups.first?.cause == "debug_token_unknown")
        #expect(groups.first?.subject == ExactText("projects/1234567890/apps/\(AdminService.appID)"))
    }

    @Test("While records cannot be written nothing of strangers waits, and what is verified does")
    func heldBack() async throws {
        full.value = true
        await exchange(Self.invented, count: 50)
        await exchange(AdminService.app, count: 50)
        #expect(recorded.records.isEmpty)
        await exchange(AdminService.app, AdminService.debugToken)
        #expect(recorded.records.count == 1)
        // An administrator wants to know why his own call failed, above all now.
        let own = await engine.handle(
            Call("noSuchMethod", resource: AdminService.app, credentials: BearerToken(AdminService.admin)))
        let rejected = await engine.handle(
            Call(
                "createDebugToken", resource: AdminService.app, body: ["displayName": 5], peer: "192.0.2.2",
                credentials: BearerToken(AdminService.admin)))
        #expect(!recorded.records.contains { $0.decision == own.decision }, "a method that is not there checks nobody")
        #expect(recorded.records.last?.decision == rejected.decision)
        #expect(recorded.records.last?.caller == "root")
        full.value = false
        await exchange(Self.invented)
        #expect(recorded.records.count == 3)
        decisions.close()
        #expect(recorded.summaries.map(\.total) == [101])
    }

    @Test("A sum has a bounded number of groups, and a bounded line")
    func cardinality() async throws {
        full.value = true
        for number in 0..<500 {
            _ = await engine.handle(
                Call("\(number) \(String(repeating: "x", count: 10_000))", resource: Self.invented, peer: "192.0.2.1"))
        }
        decisions.close()
        let summary = try #require(recorded.summaries.first)
        #expect(summary.groups.count == 64)
        #expect(summary.total == 500)
        #expect(summary.groups.allSatisfy { $0.method.string.utf8.count <= 163 })
    }

    @Test(
        "A record holds little of what a stranger wrote, also while it waits",
        arguments: ["resource", "method", "token", "peer"])
    func bounded(_ field: String) async throws {
        let long = String(repeating: "a\u{0301}\u{0300}", count: 20_000)
        _ = await engine.handle(
            Call(
                field == "method" ? long : "exchangeDebugToken",
                resource: field == "resource" ? "projects/\(long)/apps/1:2:ios:ab" : Self.invented,
                body: ["debugToken": .string(field == "token" ? long : "x")],
                peer: field == "peer" ? long : "192.0.2.1"))
        let record = try #require(recorded.records.last)
        let texts = [record.method, record.resource, record.detail ?? "", record.peer ?? ""]
        #expect(texts.allSatisfy { $0.utf8.count <= 1003 }, "\(texts.map(\.utf8.count))")
    }
}

/// Keeps records and sums.
private final class SummarySink: DecisionSink {
    private let kept = Mutex<(records: [DecisionRecord], summaries: [DecisionSummary])>(([], []))

    func record(_ record: DecisionRecord) { kept.withLock { $0.records.append(record) } }
    func record(_ summary: DecisionSummary) { kept.withLock { $0.summaries.append(summary) } }

    var records: [DecisionRecord] { kept.withLock { $0.records } }
    var summaries: [DecisionSummary] { kept.withLock { $0.summaries } }
}

private final class Flag: Sendable {
    private let flag = Mutex(false)

    var value: Bool {
        get { flag.withLock { $0 } }
        set { flag.withLock { $0 = newValue } }
    }
}
