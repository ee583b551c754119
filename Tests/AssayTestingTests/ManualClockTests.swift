import AssayCore
import AssayTesting
import Testing

/// A clock that loses a second or a sleeper makes a plugin author's tests hang, or pass for no reason.
@Suite("The clock that tests move", .timeLimit(.minutes(20)))
struct ManualClockTests {
    @Test("Steps by many tasks at once are all counted")
    func together() async {
        let clock = ManualClock(Instant(seconds: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask {
                    for _ in 0..<100 { clock.advance(by: .milliseconds(1)) }
                }
            }
        }
        #expect(clock.now == Instant(milliseconds: 6400))
    }

    @Test("A sleep of no time ends at once, and nobody is counted as asleep", arguments: [Duration.zero, .seconds(-1)])
    func noTime(_ duration: Duration) async throws {
        let clock = ManualClock()
        try await clock.hostClock.sleep(for: duration)
        #expect(clock.sleeperCount == 0)
    }

    @Test("A task that was cancelled before it sleeps does not sleep")
    func cancelledBefore() async {
        let clock = ManualClock()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.hostClock.sleep(for: .seconds(1))
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("Whoever waits for sleepers continues when they are there, when they were there before, or when cancelled")
    func waiters() async throws {
        let clock = ManualClock()
        let sleepers = (0..<2).map { _ in Task { try await clock.hostClock.sleep(for: .seconds(1)) } }
        await clock.waitForSleepers(2)
        await clock.waitForSleepers(1)
        await clock.waitForSleepers(0)
        let waiter = Task { await clock.waitForSleepers(3) }
        waiter.cancel()
        await waiter.value
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .seconds(1))
        for sleeper in sleepers { try await sleeper.value }
    }

    @Test("A clock that is set back wakes nobody, and a sleeper then waits for the time at which it was to wake")
    func setBack() async throws {
        let clock = ManualClock(Instant(seconds: 1000))
        let sleeper = Task { try await clock.hostClock.sleep(for: .seconds(10)) }
        await clock.waitForSleepers(1)
        clock.set(Instant(seconds: 0))
        clock.advance(by: .seconds(1009))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await sleeper.value
        #expect(clock.sleeperCount == 0)
    }

    @Test("The time since the start moves with the clock")
    func uptime() {
        let clock = ManualClock(Instant(seconds: 1000))
        #expect(clock.hostClock.uptime == .zero)
        clock.advance(by: .seconds(5))
        #expect(clock.hostClock.uptime == .seconds(5))
    }

    @Test("A thousand sleepers wake by one step, each once")
    func crowd() async throws {
        let clock = ManualClock()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    try await clock.hostClock.sleep(for: .milliseconds(number % 10 + 1))
                    return number
                }
            }
            await clock.waitForSleepers(1000)
            clock.advance(by: .milliseconds(5))
            #expect(clock.sleeperCount == 500)
            clock.advance(by: .milliseconds(5))
            var woken: Set<Int> = []
            for try await number in group { #expect(woken.insert(number).inserted) }
            #expect(woken.count == 1000)
        }
    }
}
