import AssayCore
import AssayKit
import Synchronization
import Testing

@Suite("Operations with a deadline", .timeLimit(.minutes(20)))
struct WithDeadlineTests {
    private struct Exceeded: Error {}
    private struct Fault: Error {}

    @Test("An operation that never waits starts no timer")
    func immediate() async throws {
        let timers = Mutex(0)
        let clock = HostClock(
            now: { Instant(seconds: 0) }, uptime: { .zero }, sleep: { _ in timers.withLock { $0 += 1 } })
        #expect(try await withDeadline(.seconds(1), clock: clock, exceeded: Exceeded()) { 5 } == 5)
        #expect(timers.withLock { $0 } == 0)
    }

    @Test("An operation that waits for longer is cancelled, and the error is the given one")
    func exceeded() async {
        await #expect(throws: Exceeded.self) {
            try await withDeadline(.milliseconds(10), clock: .system, exceeded: Exceeded()) {
                try await Task.sleep(for: .seconds(3600))
            }
        }
    }

    @Test("What an operation throws is passed on")
    func fault() async {
        await #expect(throws: Fault.self) {
            try await withDeadline(.seconds(3600), clock: .system, exceeded: Exceeded()) {
                await Task.yield()
                throw Fault()
            }
        }
    }
}
