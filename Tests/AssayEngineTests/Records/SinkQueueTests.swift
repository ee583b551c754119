import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import AssayTestSupport
import Synchronization
import Testing
@testable import AssayServices

@Suite("The queue of a sink", .timeLimit(.minutes(20)))
struct SinkQueueTests {
    private let clock = ManualClock()
    private let meter = CountingMeter()
    private let log = RecordingLog()
    private let sink = ObedientSink()
    private let queue: SinkQueue

    init() {
        queue = SinkQueue(
            "test", for: sink,
            host: StorageHost(clock: clock.hostClock, logger: log.logger, meter: meter.meter),
            options: SinkQueue.Options(queueLimit: 300, closingLimit: .seconds(5)))
    }

    private func put(_ numbers: Range<Int>) {
        for number in numbers {
            queue.record(
                DecisionRecord(
                    decision: DecisionID(text: "\(number)"), time: clock.now, duration: .milliseconds(1), method: "m",
                    resource: "", provider: nil, outcome: .answered, detail: nil, facts: [], peer: nil))
        }
    }

    private func running(_ body: () async throws -> Void) async rethrows {
        let task = Task { await queue.run() }
        defer { task.cancel() }
        try await body()
        task.cancel()
        await task.value
    }

    @Test("Batches come in order, no larger than promised, and one at a time")
    func order() async {
        put(0..<300)
        #expect(meter["sink_records_waiting", "test"] == 300)
        await running { await sink.wait { $0.written.count == 300 } }
        #expect(sink.state.written == (0..<300).map { "\($0)" })
        #expect(sink.state.batches == [256, 44])
        await queue.close()
        #expect(meter["sink_records_written_total", "test"] == 300)
        #expect(meter["sink_records_waiting", "test"] == 0)
        #expect(sink.state.isClosed)
    }

    @Test("A batch that fails is tried again after a growing pause, and what comes later waits behind it")
    func retries() async {
        sink.answer { _ in DecisionSinkError("full") }
        await running {
            put(0..<1)
            for tries in 1...5 {
                await sink.wait(moving: clock) { $0.batches.count >= tries }
                put(tries..<tries + 1)
                #expect(meter["sink_records_waiting", "test"] == Double(tries + 1))
            }
            while queue.blockingReason == nil { await Task.yield() }
            #expect(queue.blockingReason == "the sink test does not take records: full")
            #expect(queue.readiness == .degraded("the sink test does not take records: full"))
            sink.answer { _ in nil }
            await sink.wait(moving: clock) { $0.written.count == 6 }
        }
        #expect(sink.state.written == (0..<6).map { "\($0)" })
        await queue.close()
        #expect(queue.blockingReason == nil)
        #expect(log.lines.filter { $0.contains("a sink does not take records, which wait") }.count == 1)
        #expect(log.lines.filter { $0.contains("a sink takes records again") }.count == 1)
        #expect(meter["sink_records_lost_total", "test"] == 0)
    }

    @Test("A pause that the sink asks for is kept, and is a minute at most")
    func retryAfter() async {
        sink.answer { _ in DecisionSinkError("busy", retryAfter: .seconds(3600)) }
        await running {
            put(0..<1)
            await sink.wait { $0.batches.count == 1 }
            let start = clock.now
            await sink.wait(moving: clock, by: .seconds(1)) { $0.batches.count == 2 }
            #expect(clock.now - start >= .seconds(60))
        }
    }

    @Test("What the sink refuses for good is lost and counted, and the rest continues")
    func finalErrors() async {
        sink.answer { $0.contains("0") ? DecisionSinkError("too large", isFinal: true) : nil }
        await running {
            put(0..<3)
            await sink.wait { $0.batches.count == 1 }
            put(3..<5)
            await sink.wait { !$0.written.isEmpty }
        }
        await queue.close()
        #expect(sink.state.written.last == "4")
        #expect(meter["sink_records_lost_total", "test"] + meter["sink_records_written_total", "test"] == 5)
        #expect(meter["sink_records_lost_total", "test"] >= 1)
        #expect(log.lines.contains { $0.contains("a sink refuses records") })
    }

    @Test("A full queue loses the newest, counts them, and says so")
    func full() async {
        put(0..<310)
        #expect(meter["sink_records_waiting", "test"] == 300)
        #expect(meter["sink_records_lost_total", "test"] == 10)
        #expect(queue.blockingReason == "too many records wait for the sink test")
        await running { await sink.wait { $0.written.count == 300 } }
        #expect(sink.state.written.last == "299")
        #expect(log.lines.contains { $0.contains("records for a sink are lost") && $0.contains("10") })
    }

    @Test("A sink that hangs is cancelled after its time, never called twice at once, and holds up no record")
    func hangs() async {
        sink.hang(untilCancelled: true)
        await running {
            put(0..<1)
            await sink.wait { $0.batches.count == 1 }
            put(1..<299)
            #expect(queue.blockingReason == nil)
            await sink.wait(moving: clock) { $0.cancelled >= 1 }
            sink.hang(untilCancelled: false)
            await sink.wait(moving: clock) { $0.written.count == 299 }
        }
        #expect(sink.state.most == 1)
    }

    @Test("The end passes on what waits, and what a sink does not take then is counted as lost")
    func close() async {
        put(0..<10)
        await queue.close()
        #expect(sink.state.written.count == 10)
        put(10..<12)
        #expect(meter["sink_records_lost_total", "test"] == 2)

        let second = ObedientSink()
        second.answer { _ in DecisionSinkError("gone") }
        let queue = SinkQueue(
            "second", for: second, host: StorageHost(clock: clock.hostClock, logger: log.logger, meter: meter.meter))
        queue.record(
            DecisionRecord(
                decision: DecisionID(text: "x"), time: clock.now, duration: .zero, method: "m", resource: "",
                provider: nil, outcome: .answered, detail: nil, facts: [], peer: nil))
        await queue.close()
        #expect(meter["sink_records_lost_total", "second"] == 1)
        #expect(second.state.isClosed)
    }
}

extension SinkQueueTests {
    @Test("A sink is found by each of its schemes")
    func aliases() async throws {
        let registry = try Registry([.sink(ObedientSink.self)])
        for name in ["obedient:x", "willing:x"] {
            await (try registry.openSink(name, host: StorageHost(logger: TestService.silent))).close()
        }
        await #expect(throws: DecisionSinkError.self) {
            try await registry.openSink("eager:x", host: StorageHost(logger: TestService.silent))
        }
    }
}

/// A sink that does what a test tells it.
private final class ObedientSink: DecisionSinkPlugin {
    static let descriptor = StorageDescriptor(
        scheme: "obedient", version: "1", summary: "Does what a test tells it.", location: "",
        posture: SecurityPosture(proves: "Nothing.", trusts: ["the test"]), survival: .nothing, sharing: .process,
        aliases: ["willing"])

    struct State {
        var written: [String] = []
        var batches: [Int] = []
        var isClosed = false
        var cancelled = 0
        var running = 0
        var most = 0
        var hangs = false
        var answer: @Sendable ([String]) -> DecisionSinkError? = { _ in nil }
    }

    private let kept = Mutex(State())

    var state: State { kept.withLock { $0 } }

    static func open(_ location: String, host: StorageHost) async throws(DecisionSinkError) -> ObedientSink {
        ObedientSink()
    }

    func answer(_ answer: @escaping @Sendable ([String]) -> DecisionSinkError?) {
        kept.withLock { $0.answer = answer }
    }

    func hang(untilCancelled hangs: Bool) {
        kept.withLock { $0.hangs = hangs }
    }

    func wait(_ condition: (State) -> Bool) async {
        while !condition(state) { await Task.yield() }
    }

    /// Moves a clock until something has happened: a pause begins at any time.
    func wait(moving clock: ManualClock, by step: Duration = .seconds(10), _ condition: (State) -> Bool) async {
        while !condition(state) {
            clock.advance(by: step)
            try? await Task.sleep(for: .milliseconds(1))
        }
    }

    func record(_ entries: [DecisionEntry]) async throws(DecisionSinkError) {
        let names = entries.compactMap { entry -> String? in
            if case .decision(let record) = entry.content { record.decision.text } else { nil }
        }
        let hangs = kept.withLock { state in
            state.batches.append(names.count)
            state.running += 1
            state.most = max(state.most, state.running)
            return state.hangs
        }
        if hangs {
            while !Task.isCancelled { try? await Task.sleep(for: .milliseconds(1)) }
        }
        let error = kept.withLock { state -> DecisionSinkError? in
            state.running -= 1
            if hangs {
                state.cancelled += 1
                return DecisionSinkError("cancelled")
            }
            let error = state.answer(names)
            if error == nil { state.written += names }
            return error
        }
        if let error { throw error }
    }

    func close() async {
        kept.withLock { $0.isClosed = true }
    }
}
