import AssayCore
import AssayKit
import AssayTesting
import Synchronization
import Testing

@Suite("Records of decisions and of maintenance")
struct RecordTests {
    private func group(_ count: Int, cause: ExactText? = nil) -> DecisionSummary.Group {
        DecisionSummary.Group(method: "m", outcome: "refused", cause: cause, subject: nil, count: count)
    }

    private func summary(_ groups: [DecisionSummary.Group], others: Int) -> DecisionSummary {
        DecisionSummary(since: Instant(seconds: 0), until: Instant(seconds: 1), groups: groups, others: others)
    }

    @Test("A sum counts what is in its groups and what is in none, and never traps")
    func total() {
        #expect(summary([], others: 0).total == 0)
        #expect(summary([group(2), group(3, cause: "x")], others: 5).total == 10)
        #expect(summary([group(.max)], others: 1).total == .min)
    }

    @Test("A sink that does not ask for sums gets decisions alone")
    func standardSink() {
        final class Sink: DecisionSink {
            let count = Mutex(0)
            func record(_ record: DecisionRecord) { count.withLock { $0 += 1 } }
        }
        let sink = Sink()
        sink.record(summary([group(1)], others: 0))
        #expect(sink.count.withLock { $0 } == 0)
    }

    @Test("How maintenance ended is told apart by its kind and by the bytes of what failed")
    func outcomes() {
        typealias Outcome = MaintenanceRecord.Outcome
        #expect(Outcome.succeeded == .succeeded && Outcome.timedOut == .timedOut)
        #expect(Outcome.failed("a") == .failed("a"))
        #expect(Outcome.failed("\u{E9}") != .failed("e\u{301}"))
        #expect(Outcome.succeeded != .timedOut && Outcome.failed("") != .timedOut)
    }

    @Test("Limits that make no sense still let one event through, and no limit makes a sum wait less than a second")
    func limits() {
        for rate in [Int.min, 0, .max] {
            let events = SampledEvents<Int>(
                RecordLimits(
                    strangersPerSecond: rate, appPerSecond: rate, peerPerSecond: rate, interval: .seconds(-1)))
            #expect(events.admits(.strangers, peer: "192.0.2.1", at: .zero))
            #expect(events.admits(.known("a"), peer: nil, at: .zero))
            events.add(1, now: Instant(seconds: 0), uptime: .zero)
            #expect(events.take(now: Instant(seconds: 0), uptime: .milliseconds(999)) == nil)
            #expect(events.take(now: Instant(seconds: 1), uptime: .seconds(1))?.total == 1)
        }
    }

    @Test("A sum says from when to when it is by the wall clock, though its interval is measured by the other one")
    func clocks() throws {
        let events = SampledEvents<Int>(RecordLimits(interval: .seconds(60)))
        events.add(1, now: Instant(seconds: 1000), uptime: .seconds(5))
        // The clock was set back meanwhile.
        let sum = try #require(events.take(now: Instant(seconds: 400), uptime: .seconds(65)))
        #expect(sum.since == Instant(seconds: 1000))
        #expect(sum.until == Instant(seconds: 400))
    }
}
