import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Synchronization
import Testing

@Suite struct MemoryStoreTests {
    @Test func keepsThePromisesOfAStateStore() async {
        let suite = StateStoreSuite(makeStore: { MemoryStore(clock: $0) }, timeLimit: .seconds(900))
        #expect(await suite.run() == [])
    }

    @Test func refusesMoreEntriesThanItsMaximumAndKeepsThoseItHas() async throws {
        let store = MemoryStore(clock: StoppedClock().host, maximumEntries: 3)
        let later = Instant(seconds: 60)
        #expect(try await store.insert(StateKey("s", "a"), value: [1], expires: later))
        try await store.put(StateKey("t", "b"), value: [2], expires: nil)
        #expect(try await store.advance(StateKey("s", "c"), to: 1))
        await #expect(throws: MemoryStore.Full.self) {
            try await store.insert(StateKey("s", "d"), value: [], expires: later)
        }
        await #expect(throws: MemoryStore.Full.self) {
            try await store.put(StateKey("s", "d"), value: [], expires: later)
        }
        await #expect(throws: MemoryStore.Full.self) { try await store.advance(StateKey("s", "d"), to: 1) }
        #expect(await store.get(StateKey("s", "a")) == [1])
        #expect(await store.get(StateKey("t", "b")) == [2])
        // What replaces, raises or deletes needs no room.
        try await store.put(StateKey("t", "b"), value: [3], expires: nil)
        #expect(try await store.advance(StateKey("s", "c"), to: 2))
        #expect(try await store.insert(StateKey("s", "a"), value: [9], expires: nil) == false)
        try await store.put(StateKey("t", "b"), value: nil, expires: nil)
        #expect(try await store.insert(StateKey("s", "d"), value: [], expires: later))
    }

    @Test func refusesMoreBytesThanItsMaximum() async throws {
        let store = MemoryStore(clock: StoppedClock().host, maximumBytes: 100)
        let key = StateKey("s", "a")
        try await store.put(key, value: Array(repeating: 1, count: 98), expires: nil)
        await #expect(throws: MemoryStore.Full.self) {
            try await store.put(key, value: Array(repeating: 2, count: 99), expires: nil)
        }
        #expect(await store.get(key) == Array(repeating: 1, count: 98))
        await #expect(throws: MemoryStore.Full.self) { try await store.advance(StateKey("", "b"), to: 1) }
        try await store.put(key, value: Array(repeating: 2, count: 97), expires: nil)
        #expect(try await store.advance(StateKey("", "b"), to: 1))
    }

    @Test func makesRoomFromExpiredEntriesOnly() async throws {
        let clock = StoppedClock()
        let store = MemoryStore(clock: clock.host, maximumEntries: 1000)
        for number in 0..<1000 {
            let expires = Instant(seconds: number < 999 ? 10 : 20)
            _ = try await store.insert(StateKey("s", "\(number)"), value: [], expires: expires)
        }
        clock.set(Instant(seconds: 10))
        for number in 0..<999 {
            #expect(try await store.insert(StateKey("t", "\(number)"), value: [], expires: nil))
        }
        await #expect(throws: MemoryStore.Full.self) {
            try await store.insert(StateKey("t", "x"), value: [], expires: nil)
        }
        #expect(await store.get(StateKey("s", "999")) != nil)
    }

    @Test func replacesAnExpiredEntryInAFullStore() async throws {
        let clock = StoppedClock()
        let store = MemoryStore(clock: clock.host, maximumEntries: 1)
        let key = StateKey("s", "a")
        for second in 1...20 {
            let expires = Instant(seconds: Int64(second))
            #expect(try await store.insert(key, value: [], expires: expires))
            #expect(store.count == 1)
            clock.set(expires)
        }
    }

    @Test func removesExpiredEntriesAsOthersAreWritten() async throws {
        let clock = StoppedClock()
        let store = MemoryStore(clock: clock.host)
        for number in 0..<10_000 {
            clock.set(Instant(milliseconds: Int64(number)))
            let expires = clock.host.now + .milliseconds(100)
            _ = try await store.insert(StateKey("s", "\(number)"), value: [], expires: expires)
            #expect(store.count <= 101)
        }
        clock.set(Instant(seconds: 60))
        for _ in 0..<30 {
            try await store.put(StateKey("s", "x"), value: nil, expires: nil)
        }
        #expect(store.count == 0)
        #expect(store.deadlineCount == 0)
    }

    @Test func whatWasRemovedStaysUsedWhenTheClockIsSetBackAndMoreIsRemoved() async throws {
        let clock = StoppedClock()
        let store = MemoryStore(clock: clock.host)
        let used = StateKey("s", "used")
        #expect(try await store.insert(used, value: [], expires: Instant(seconds: 100)))
        clock.set(Instant(seconds: 100))
        try await store.put(StateKey("t", "x"), value: nil, expires: nil)
        clock.set(Instant(seconds: 0))
        try await store.put(StateKey("s", "other"), value: [], expires: Instant(seconds: 50))
        #expect(store.count == 1)
        clock.set(Instant(seconds: 50))
        try await store.put(StateKey("t", "x"), value: nil, expires: nil)
        #expect(store.count == 0)
        clock.set(Instant(seconds: 0))
        #expect(try await store.insert(used, value: [], expires: Instant(seconds: 100)) == false)
    }

    @Test func forgetsTheDeadlinesOfReplacedEntries() async throws {
        let store = MemoryStore(clock: StoppedClock().host)
        for number in 0..<10_000 {
            try await store.put(StateKey("s", "a"), value: [], expires: Instant(seconds: Int64(1000 + number)))
            #expect(store.deadlineCount < 80)
        }
        #expect(store.count == 1)
    }

    @Test func anOldDeadlineDoesNotEndALaterEntry() async throws {
        let clock = StoppedClock()
        let store = MemoryStore(clock: clock.host)
        let key = StateKey("s", "a")
        try await store.put(key, value: [1], expires: Instant(seconds: 10))
        try await store.put(key, value: [2], expires: Instant(seconds: 20))
        clock.set(Instant(seconds: 15))
        try await store.put(StateKey("s", "b"), value: [], expires: nil)
        #expect(await store.get(key) == [2])
    }
}

/// A clock that stands where it is put.
private final class StoppedClock: Sendable {
    private let time = Mutex(Instant(seconds: 0))

    var host: HostClock {
        HostClock(
            now: { self.time.withLock { $0 } }, uptime: { self.time.withLock { .milliseconds($0.milliseconds) } },
            sleep: { _ in })
    }

    func set(_ instant: Instant) {
        time.withLock { $0 = instant }
    }
}
