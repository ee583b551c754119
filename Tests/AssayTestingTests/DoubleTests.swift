import AssayCore
import AssayKit
import AssayTesting
import Testing

@Suite("Test doubles do what tests rely on")
struct DoubleTests {
    @Test("A manual clock stands still, and wakes those whose time has come")
    func clock() async throws {
        let clock = ManualClock(Instant(seconds: 1000))
        #expect(clock.hostClock.now == Instant(seconds: 1000))
        try await withThrowingTaskGroup(of: Int.self) { group in
            for seconds in [10, 20] {
                group.addTask {
                    try await clock.hostClock.sleep(for: .seconds(seconds))
                    return seconds
                }
            }
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(9))
            #expect(clock.sleeperCount == 2)
            clock.advance(by: .seconds(1))
            let first = try await group.next()
            #expect(first == 10)
            #expect(clock.sleeperCount == 1)
            clock.set(Instant(seconds: 1020))
            let second = try await group.next()
            #expect(second == 20)
        }
        #expect(clock.now == Instant(seconds: 1020))
    }

    @Test("A sleep that is cancelled ends, though the clock stands still")
    func cancelledSleep() async {
        let clock = ManualClock()
        let task = Task { try await clock.hostClock.sleep(for: .seconds(1)) }
        await clock.waitForSleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A failing store fails in each operation while it is told to, and keeps what it has")
    func failingStore() async throws {
        let store = FailingStore(FlawedStore(.none, clock: ManualClock().hostClock))
        let key = StateKey("space", "name")
        #expect(try await store.insert(key, value: [1], expires: nil))
        store.isFailing = true
        await #expect(throws: FailingStore.Failure.self) { try await store.get(key) }
        await #expect(throws: FailingStore.Failure.self) { try await store.insert(key, value: [2], expires: nil) }
        await #expect(throws: FailingStore.Failure.self) { try await store.put(key, value: [2], expires: nil) }
        await #expect(throws: FailingStore.Failure.self) { try await store.advance(key, to: 2) }
        await #expect(throws: FailingStore.Failure.self) { try await store.list("space", after: nil, limit: 1) }
        store.isFailing = false
        #expect(try await store.get(key) == [1])
        #expect(try await store.advance(key, to: 1))
    }
}
