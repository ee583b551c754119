import AssayCore
import AssayKit
import AssayTesting
import Synchronization
import Testing

@testable import AssayEngine

@Suite("Deadlines", .timeLimit(.minutes(20)))
struct DeadlineTests {
    private let clock = ManualClock()

    private struct Fault: Error {}

    /// Runs an operation by the clock with a limit of three seconds.
    private func outcome<Value: Sendable>(
        _ operation: @escaping @Sendable () async throws -> Value
    ) async -> Result<Value, any Error> {
        do {
            return .success(try await Deadline.run(.seconds(3), clock: clock.hostClock, operation))
        } catch {
            return .failure(error)
        }
    }

    @Test("An operation that never waits sets no alarm")
    func immediate() async throws {
        let alarms = Mutex(0)
        let clock = HostClock(
            now: { Instant(seconds: 0) }, uptime: { .zero }, sleep: { _ in alarms.withLock { $0 += 1 } })
        #expect(try await Deadline.run(.seconds(1), clock: clock) { 5 } == 5)
        await #expect(throws: Fault.self) {
            try await Deadline.run(.seconds(1), clock: clock) { () async throws in throw Fault() }
        }
        #expect(alarms.withLock { $0 } == 0)
    }

    @Test("What cannot wait runs at once; when it took too long it counts for nothing")
    func atOnce() throws {
        let clock = clock
        let limit = Duration.seconds(3)
        let taking = { (time: Duration) throws in
            try Deadline.runAtOnce(limit, clock: clock.hostClock) {
                clock.advance(by: time)
                return 5
            }
        }
        #expect(try taking(.milliseconds(2999)) == 5)
        #expect(throws: DeadlineExceeded.self) { try taking(limit) }
        #expect(throws: Fault.self) { try Deadline.runAtOnce(limit, clock: clock.hostClock) { throw Fault() } }
    }

    @Test("An operation that waits is cancelled at its deadline, and has ended before the caller continues")
    func late() async {
        let clock = clock
        let ended = Mutex(false)
        async let running = outcome {
            defer { ended.withLock { $0 = true } }
            try await clock.hostClock.sleep(for: .seconds(3600))
        }
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(2999))
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .milliseconds(1))
        let outcome = await running
        #expect(throws: DeadlineExceeded.self) { try outcome.get() }
        #expect(ended.withLock { $0 })
        #expect(clock.sleeperCount == 0)
    }

    @Test("An operation that waits and ends in time returns, and its alarm is off", arguments: [false, true])
    func inTime(_ fails: Bool) async throws {
        let clock = clock
        async let running = outcome {
            try await clock.hostClock.sleep(for: .seconds(1))
            if fails { throw Fault() }
            return 5
        }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        let outcome = await running
        if fails {
            #expect(throws: Fault.self) { try outcome.get() }
        } else {
            #expect(try outcome.get() == 5)
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("What an operation returns too late without ever having waited counts for nothing")
    func tooLate() async throws {
        let clock = clock
        await #expect(throws: DeadlineExceeded.self) {
            try await Deadline.run(.seconds(3), clock: clock.hostClock) { clock.advance(by: .seconds(3)) }
        }
        try await Deadline.run(.seconds(3), clock: clock.hostClock) { clock.advance(by: .milliseconds(2999)) }
    }

    @Test("Who is cancelled cancels the operation, and waits for its end")
    func cancelled() async {
        let clock = clock
        let ended = Mutex(false)
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { @Sendable in
                try await Deadline.run(.seconds(3), clock: clock.hostClock) {
                    defer { ended.withLock { $0 = true } }
                    try await clock.hostClock.sleep(for: .seconds(3600))
                }
            }
            await clock.waitForSleepers(2)
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
        #expect(ended.withLock { $0 })
        #expect(clock.sleeperCount == 0)
    }
}
