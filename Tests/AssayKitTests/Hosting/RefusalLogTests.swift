import AssayCore
import AssayKit
import AssayTestSupport
import AssayTesting
import Logging
import Synchronization
import Testing

@Suite("The log of refused requests", .timeLimit(.minutes(20)))
struct RefusalLogTests {
    private let clock = ManualClock()
    private let lines = RecordingLog()

    private func log(_ limits: RecordLimits = RecordLimits(strangersPerSecond: 1, peerPerSecond: 1)) -> RefusalLog {
        RefusalLog(lines.logger, noun: "call", limits: limits, clock: clock.hostClock)
    }

    @Test("Beyond the rate no line is made, and the sum is told once when its interval is over")
    func sum() {
        let log = log()
        var made = 0
        for _ in 0..<50 {
            log.refused(404, peer: "192.0.2.1") {
                made += 1
                return [:]
            }
        }
        // What may come at once is 20 seconds of the rate.
        #expect(made == 20)
        #expect(lines.lines == Array(repeating: "call refused", count: 20))
        clock.advance(by: .milliseconds(59_999))
        log.flush()
        #expect(lines.lines.count == 20)
        clock.advance(by: .milliseconds(1))
        log.flush()
        log.flush(early: true)
        #expect(lines.lines.count == 21)
        #expect(
            lines.lines.last?.isExactly(
                "refused calls summed count=30 since=2026-11-21T12:00:00Z statuses=[\"404: 30\"]") == true)
    }

    @Test("A sum tells its statuses apart, the most frequent first")
    func statuses() {
        let log = log()
        for _ in 0..<20 { log.refused(404, peer: "192.0.2.1") { [:] } }
        for status: UInt in [400, 404, 400] { log.refused(status, peer: "192.0.2.1") { [:] } }
        log.flush(early: true)
        #expect(lines.lines.last?.ends(withExactly: "statuses=[\"400: 2\", \"404: 1\"]") == true)
    }

    @Test("Requests beyond the rate tell the sum of those before, when nothing else does")
    func laterRequest() {
        let log = log()
        for _ in 0..<21 { log.refused(404, peer: "192.0.2.1") { [:] } }
        clock.advance(by: .seconds(60))
        log.refused(404, peer: "192.0.2.1") { [:] }
        #expect(lines.lines.count == 22)
        #expect(lines.lines.last?.starts(withExactly: "refused calls summed count=1 ") == true)
    }

    @Test("One peer's flood leaves the lines of another one")
    func peers() {
        let log = log(RecordLimits(strangersPerSecond: 10, peerPerSecond: 1))
        for _ in 0..<1000 { log.refused(404, peer: "192.0.2.1") { [:] } }
        log.refused(400, peer: "192.0.2.2") { ["peer": "other"] }
        #expect(lines.lines.last?.isExactly("call refused peer=other") == true)
    }

    @Test("What is not yet told when the server ends is told then")
    func end() async {
        let log = log()
        for _ in 0..<25 { log.refused(404, peer: nil) { [:] } }
        let task = Task { await log.run() }
        task.cancel()
        await task.value
        #expect(lines.lines.last?.starts(withExactly: "refused calls summed count=5 ") == true)
    }
}
