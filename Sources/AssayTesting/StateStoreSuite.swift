public import AssayKit
internal import Synchronization

/// A promise of a contract that an implementation broke.
public struct SuiteFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The check that found it: the name of a promise, stable.
    public let promise: String
    /// What was expected, and what happened instead.
    public let detail: String

    public init(promise: String, detail: String) {
        self.promise = promise
        self.detail = detail
    }

    public var description: String { "\(promise): \(detail)" }
}

/// What every ``StateStore`` promises, as checks for the author of a store.
///
///     let suite = StateStoreSuite { clock in MyStore(clock: clock) }
///     #expect(await suite.run() == [])
///
/// Each check has a store of its own and a clock that stands still until the check moves it. The checks, by name:
///
/// | promise | what is checked |
/// |---|---|
/// | `insert-once` | of many concurrent inserts of one key exactly one returns true, and its value is kept |
/// | `expiry` | from its instant on an entry is absent for get, list and insert; without one it stays |
/// | `insert-once-again` | of many concurrent inserts over an expired entry exactly one returns true |
/// | `replacement` | put writes, replaces value and expiry, and deletes; insert does not replace |
/// | `whole-values` | a reader sees the old value or the new one, never a mixture |
/// | `counter` | greater values are taken; equal and lower ones refused; the whole range of `UInt64`; no expiry |
/// | `counter-order` | concurrent advances look as if they had happened one after the other |
/// | `counters-apart` | a counter and an entry of the same key know nothing of each other |
/// | `list` | the order of the names' bytes, `after`, `limit`, the space's own live entries only |
/// | `names` | NUL, quotes, wildcards, 1024 bytes; equivalent Unicode spellings are different names |
/// | `values` | empty, all byte values, 1 MiB; larger ones are refused or kept whole |
/// | `spaces` | spaces are apart, whatever their names have in common |
/// | `reopening` | entries, expiries, counters and deletions are there after reopening (durable stores) |
public struct StateStoreSuite: Sendable {
    /// Makes an empty store that reads the time from a clock.
    public typealias Make = @Sendable (HostClock) async throws -> any StateStore
    /// Opens the same data once more, after the given store was closed or dropped.
    public typealias Reopen = @Sendable (any StateStore, HostClock) async throws -> any StateStore

    private typealias Check = @Sendable (Run) async throws -> Void

    private let make: Make
    private let reopen: Reopen?
    private let concurrency: Int

    /// - Parameters:
    ///   - makeStore: makes an empty store for each check.
    ///   - reopen: for a durable store: what a restart does. Nil leaves `reopening` out.
    ///   - concurrency: how many operations run at once.
    public init(makeStore: @escaping Make, reopen: Reopen? = nil, concurrency: Int = 100) {
        self.make = makeStore
        self.reopen = reopen
        self.concurrency = max(concurrency, 2)
    }

    /// Runs all checks. Returns the promises that were broken, none for a good store.
    public func run() async -> [SuiteFailure] {
        let checks: [(String, Check)] = [
            ("insert-once", insertOnce), ("expiry", expiry), ("insert-once-again", insertOnceAgain),
            ("replacement", replacement), ("whole-values", wholeValues), ("counter", counter),
            ("counter-order", counterOrder), ("counters-apart", countersApart), ("list", list),
            ("names", names), ("values", values), ("spaces", spaces), ("reopening", reopening),
        ]
        var failures: [SuiteFailure] = []
        for (promise, check) in checks {
            let clock = SuiteClock()
            do {
                let run = Run(promise: promise, store: try await make(clock.host), clock: clock)
                do {
                    try await check(run)
                } catch {
                    run.expect(false, "threw \(error)")
                }
                failures += run.failures
            } catch {
                failures.append(SuiteFailure(promise: promise, detail: "no store could be made: \(error)"))
            }
        }
        return failures
    }
}

// MARK: - Entries

extension StateStoreSuite {
    @Sendable private func insertOnce(_ run: Run) async throws {
        for round in 0..<10 {
            try await raceToInsert(StateKey("suite", "once-\(round)"), run)
        }
    }

    @Sendable private func insertOnceAgain(_ run: Run) async throws {
        for round in 0..<10 {
            let key = StateKey("suite", "again-\(round)")
            _ = try await run.store.insert(key, value: [], expires: run.clock.now + .seconds(1))
            run.clock.advance(.seconds(1))
            try await raceToInsert(key, run)
        }
    }

    /// Many tasks insert values that tell them apart.
    private func raceToInsert(_ key: StateKey, _ run: Run) async throws {
        let expires = run.clock.now + .seconds(60)
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for task in 0..<concurrency {
                group.addTask {
                    try await run.store.insert(key, value: Self.bytes(of: task), expires: expires) ? task : nil
                }
            }
            return try await group.reduce(into: [Int]()) { $0 += $1.map { [$0] } ?? [] }
        }
        run.expect(winners.count == 1, "\(winners.count) of \(concurrency) concurrent inserts returned true")
        let kept = try await run.store.get(key)
        run.expect(winners.contains { Self.bytes(of: $0) == kept }, "the value kept is not that of the winner")
    }

    @Sendable private func expiry(_ run: Run) async throws {
        let (store, clock) = (run.store, run.clock)
        let (brief, put, lasting) = (
            StateKey("suite", "brief"), StateKey("suite", "put"), StateKey("suite", "lasting")
        )
        let deadline = clock.now + .seconds(5)
        try await run.expect(store.insert(brief, value: [1], expires: deadline), true, "insert")
        try await store.put(put, value: [2], expires: deadline)
        try await run.expect(store.insert(lasting, value: [3], expires: nil), true, "insert without expiry")
        clock.advance(.milliseconds(4999))
        try await run.expect(store.get(brief), [1], "get one millisecond before the expiry")
        try await run.expect(store.insert(brief, value: [9], expires: nil), false, "insert before the expiry")
        try await run.expect(store.list("suite", after: nil, limit: 9).count, 3, "entries listed before the expiry")
        clock.advance(.milliseconds(1))
        try await run.expect(store.get(brief), nil, "get at the instant of expiry")
        try await run.expect(store.get(put), nil, "get of a put entry at the instant of expiry")
        try await run.expect(
            store.list("suite", after: nil, limit: 9).map(\.name), ["lasting"], "names listed after the expiry")
        try await run.expect(store.list("suite", after: nil, limit: 1).count, 1, "limit counts live entries only")
        try await run.expect(
            store.insert(brief, value: [4], expires: clock.now + .seconds(5)), true, "insert after the expiry")
        try await run.expect(store.get(brief), [4], "get of the entry inserted after the expiry")
        clock.advance(.seconds(4))
        try await run.expect(store.get(brief), [4], "the new entry has the new expiry")
        clock.advance(.seconds(1_000_000_000))
        try await run.expect(store.get(lasting), [3], "get of an entry without expiry, much later")
        try await run.expect(store.insert(lasting, value: [5], expires: nil), false, "insert over it")
        let far = StateKey("suite", "far")
        try await run.expect(
            store.insert(far, value: [6], expires: Instant(milliseconds: .max)), true, "insert with a far expiry")
        try await run.expect(store.get(far), [6], "get of an entry with a far expiry")
        let past = StateKey("suite", "past")
        try await store.put(past, value: [7], expires: Instant(milliseconds: .min))
        try await run.expect(store.get(past), nil, "get of an entry that was put expired")
    }

    @Sendable private func replacement(_ run: Run) async throws {
        let (store, clock) = (run.store, run.clock)
        let key = StateKey("suite", "replaced")
        try await run.expect(store.get(key), nil, "get of an absent entry")
        try await store.put(key, value: nil, expires: nil)
        try await store.put(key, value: [1], expires: clock.now + .seconds(5))
        try await run.expect(store.get(key), [1], "get after put")
        try await run.expect(store.insert(key, value: [2], expires: nil), false, "insert over a put entry")
        try await run.expect(store.get(key), [1], "a refused insert changes nothing")
        try await store.put(key, value: [3, 3], expires: nil)
        try await run.expect(store.get(key), [3, 3], "get after a second put")
        clock.advance(.seconds(6))
        try await run.expect(store.get(key), [3, 3], "a put without expiry takes the old expiry away")
        try await store.put(key, value: [4], expires: clock.now + .seconds(1))
        clock.advance(.seconds(1))
        try await run.expect(store.get(key), nil, "a put with an expiry sets it")
        try await store.put(key, value: [5], expires: nil)
        try await store.put(key, value: nil, expires: nil)
        try await run.expect(store.get(key), nil, "get after deletion")
        try await run.expect(store.list("suite", after: nil, limit: 9).count, 0, "entries listed after deletion")
        try await run.expect(store.insert(key, value: [6], expires: nil), true, "insert after deletion")
    }

    @Sendable private func wholeValues(_ run: Run) async throws {
        let key = StateKey("suite", "torn")
        let versions: [[UInt8]] = [Array(repeating: 1, count: 10_000), Array(repeating: 2, count: 20_000)]
        try await run.store.put(key, value: versions[0], expires: nil)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<concurrency {
                group.addTask {
                    if task.isMultiple(of: 2) {
                        try await run.store.put(key, value: versions[task / 2 % 2], expires: nil)
                    } else {
                        let seen = try await run.store.get(key)
                        run.expect(
                            seen.map(versions.contains) ?? false, "a reader saw neither the old nor the new value")
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

// MARK: - Counters

extension StateStoreSuite {
    @Sendable private func counter(_ run: Run) async throws {
        let store = run.store
        let key = StateKey("suite", "counter")
        let steps: [(UInt64, Bool)] = [
            (0, false), (1, true), (1, false), (0, false), (255, true), (256, true), (255, false), (65_536, true),
            (1 << 53, true), (1 << 53 + 1, true), (1 << 53, false), (UInt64(Int64.max), true),
            (UInt64(Int64.max), false), (1 << 63, true), (UInt64(Int64.max), false), (1, false),
            (.max - 1, true), (.max, true), (.max, false), (.max - 1, false), (0, false),
        ]
        for (value, expected) in steps {
            try await run.expect(store.advance(key, to: value), expected, "advance to \(value)")
        }
        run.clock.advance(.seconds(1_000_000_000))
        try await run.expect(store.advance(key, to: 5), false, "advance to less, much later")
    }

    @Sendable private func countersApart(_ run: Run) async throws {
        let store = run.store
        let key = StateKey("suite", "both")
        try await run.expect(store.advance(key, to: 7), true, "advance")
        try await run.expect(store.get(key), nil, "get of a counter")
        try await run.expect(store.list("suite", after: nil, limit: 9).count, 0, "counters listed")
        try await run.expect(store.insert(key, value: [1], expires: nil), true, "insert beside a counter")
        try await run.expect(store.advance(key, to: 7), false, "advance beside an entry")
        try await store.put(key, value: nil, expires: nil)
        try await run.expect(store.advance(key, to: 7), false, "advance after the entry was deleted")
        try await store.put(key, value: [2], expires: nil)
        try await run.expect(store.advance(key, to: 8), true, "advance beside a put entry")
        try await run.expect(store.get(key), [2], "get of the entry after its neighbour advanced")
    }

    private struct Advance: Sendable {
        let value: UInt64
        let taken: Bool
        let start: Int
        let end: Int
    }

    @Sendable private func counterOrder(_ run: Run) async throws {
        for round in 0..<10 {
            let key = StateKey("suite", "order-\(round)")
            let half = UInt64(max(concurrency / 2, 1))
            // Each value twice, so that equal ones meet.
            let values = (Array(1...half) + Array(1...half)).shuffled()
            let ticks = Mutex(0)
            let tick: @Sendable () -> Int = {
                ticks.withLock { count in
                    count += 1
                    return count
                }
            }
            let advances = try await withThrowingTaskGroup(of: Advance.self) { group in
                for value in values {
                    group.addTask {
                        let start = tick()
                        let taken = try await run.store.advance(key, to: value)
                        return Advance(value: value, taken: taken, start: start, end: tick())
                    }
                }
                return try await group.reduce(into: [Advance]()) { $0.append($1) }
            }
            for advance in advances {
                // Whatever had ended before, taken or refused, left the counter at its own value at least.
                let before = advances.filter { $0.end < advance.start }.map(\.value).max() ?? 0
                if advance.taken {
                    run.expect(advance.value > before, "\(advance.value) was taken after the counter was at \(before)")
                } else {
                    let reason = advances.contains {
                        $0.taken && $0.value >= advance.value && $0.start < advance.end
                    }
                    run.expect(reason, "\(advance.value) was refused, but nothing as great had been taken")
                }
            }
            let taken = advances.filter(\.taken).map(\.value)
            run.expect(Set(taken).count == taken.count, "a value was taken twice")
            run.expect(taken.max() == half, "the greatest value was not taken")
            try await run.expect(run.store.advance(key, to: half), false, "advance to the greatest, after all")
            try await run.expect(run.store.advance(key, to: half + 1), true, "advance to one more")
        }
    }
}

// MARK: - Names, values, spaces

extension StateStoreSuite {
    /// Names that a careless store confuses, cuts off or takes for syntax. In the order of their bytes.
    static let oddNames = [
        "", "\0", "\0\0", "\0a", "\n", " ", "\"", "%", "%25", "'", "';DROP TABLE entry;--", "*", "/", "//", "10", "2",
        "?", "A", "NULL", "\\", "_", "a", "a\0", "a\0b", "a/b", "a:b", "aa", "b", "e\u{301}", "\u{7f}", "\u{e9}",
        "\u{ff}", "\u{800}", "\u{feff}", "\u{ffff}", "\u{1f600}", "\u{10ffff}",
    ]

    @Sendable private func list(_ run: Run) async throws {
        let store = run.store
        // Written in another order than that of their names.
        for name in Self.oddNames.shuffled() {
            try await store.put(StateKey("suite", name), value: Array(name.utf8), expires: nil)
        }
        try await store.put(StateKey("suit", "x"), value: [], expires: nil)
        try await store.put(StateKey("suite2", "x"), value: [], expires: nil)
        let bytes = Self.oddNames.map { Array($0.utf8) }
        let all = try await store.list("suite", after: nil, limit: 1000)
        run.expect(all.map { Array($0.name.utf8) } == bytes, "not all names of the space in the order of their bytes")
        run.expect(all.allSatisfy { $0.value == Array($0.name.utf8) }, "a value listed under another name")
        for limit in [1, 3, bytes.count] {
            var paged: [[UInt8]] = []
            var last: String?
            while paged.count <= bytes.count {
                let page = try await store.list("suite", after: last, limit: limit)
                run.expect(page.count <= limit, "a page of \(page.count) where the limit is \(limit)")
                guard let end = page.last else { break }
                paged += page.map { Array($0.name.utf8) }
                last = end.name
            }
            run.expect(paged == bytes, "pages of \(limit) do not add up to the whole list")
        }
        try await run.expect(store.list("suite", after: "2x", limit: 1).map(\.name), ["?"], "after a name not there")
        try await run.expect(store.list("suite", after: nil, limit: 0).count, 0, "entries with a limit of 0")
        try await run.expect(store.list("empty", after: nil, limit: 9).count, 0, "entries of an empty space")
        let expires = run.clock.now + .milliseconds(1500)
        try await store.put(StateKey("timed", "t"), value: [1], expires: expires)
        try await run.expect(
            store.list("timed", after: nil, limit: 9), [StateEntry(name: "t", value: [1], expires: expires)],
            "the entry listed with its expiry")
    }

    @Sendable private func names(_ run: Run) async throws {
        let store = run.store
        let longest = String(repeating: "n", count: 1023)
        let names = Self.oddNames + [longest + "1", longest + "2"]
        for (index, name) in names.enumerated() {
            let key = StateKey("suite", name)
            try await run.expect(store.insert(key, value: Self.bytes(of: index), expires: nil), true, "insert \(key)")
            try await run.expect(store.advance(key, to: 9), true, "advance \(key)")
        }
        for (index, name) in names.enumerated() {
            let key = StateKey("suite", name)
            try await run.expect(store.get(key), Self.bytes(of: index), "get \(key)")
            try await run.expect(store.advance(key, to: 9), false, "advance \(key) again")
        }
        // Longer ones may be refused, but not be taken for one another.
        let long = String(repeating: "n", count: 70_000)
        if (try? await store.insert(StateKey("suite", long + "1"), value: [1], expires: nil)) != nil {
            try await run.expect(store.get(StateKey("suite", long + "2")), nil, "get of another very long name")
            try await run.expect(store.get(StateKey("suite", long + "1")), [1], "get of a very long name")
        }
    }

    @Sendable private func values(_ run: Run) async throws {
        let key = StateKey("suite", "value")
        let every = (0...255).map { UInt8($0) }
        let samples: [[UInt8]] = [
            [], [0], [0, 0, 1], every, Array("1e3".utf8), [0xC3, 0x28, 0xFF], Array(repeating: 0xA5, count: 1 << 20),
        ]
        for (index, value) in samples.enumerated() {
            let fresh = StateKey("suite", "value-\(index)")
            let about = "a value of \(value.count) bytes"
            try await run.expect(run.store.insert(fresh, value: value, expires: nil), true, "insert of \(about)")
            let inserted = try await run.store.get(fresh)
            run.expect(inserted == value, "\(about) is not returned as inserted")
            try await run.store.put(key, value: value, expires: nil)
            let replaced = try await run.store.get(key)
            run.expect(replaced == value, "\(about) is not returned as put")
        }
        let large = [UInt8](repeating: 7, count: 1 << 21)
        let before = try await run.store.get(key)
        let isTaken = (try? await run.store.put(key, value: large, expires: nil)) != nil
        let after = try await run.store.get(key)
        run.expect(after == (isTaken ? large : before), "a value of 2 MiB is neither kept whole nor refused")
    }

    @Sendable private func spaces(_ run: Run) async throws {
        let store = run.store
        // What is joined with or without a separator comes out the same for some of these.
        let keys = [
            StateKey("a", "b"), StateKey("ab", ""), StateKey("", "ab"), StateKey("a", "b:c"), StateKey("a:b", "c"),
            StateKey("a/b", "c"), StateKey("a", "b/c"), StateKey("a", "b\0c"), StateKey("a\0b", "c"),
            StateKey("A", "b"), StateKey("e\u{301}", "x"), StateKey("\u{e9}", "x"),
        ]
        for (index, key) in keys.enumerated() {
            let value = Self.bytes(of: index)
            try await run.expect(store.insert(key, value: value, expires: nil), true, "insert \(key)")
            try await run.expect(store.advance(key, to: 5), true, "advance \(key)")
        }
        for (index, key) in keys.enumerated() {
            try await run.expect(store.get(key), Self.bytes(of: index), "get \(key)")
        }
        try await store.put(keys[0], value: nil, expires: nil)
        for (index, key) in keys.enumerated().dropFirst() {
            try await run.expect(store.get(key), Self.bytes(of: index), "get \(key) after a deletion elsewhere")
        }
    }

    private static func bytes(of number: Int) -> [UInt8] {
        Array("value \(number)".utf8)
    }
}

// MARK: - Durability

extension StateStoreSuite {
    @Sendable private func reopening(_ run: Run) async throws {
        guard let reopen else { return }
        let (old, clock) = (run.store, run.clock)
        let kept = Self.oddNames.enumerated().map { index, name in
            StateEntry(name: name, value: Self.bytes(of: index), expires: index == 3 ? clock.now + .seconds(60) : nil)
        }
        for entry in kept {
            _ = try await old.insert(StateKey("kept", entry.name), value: entry.value, expires: entry.expires)
        }
        try await old.put(StateKey("other", "deleted"), value: [1], expires: nil)
        try await old.put(StateKey("other", "deleted"), value: nil, expires: nil)
        try await old.put(StateKey("other", "brief"), value: [1], expires: clock.now + .seconds(1))
        _ = try await old.advance(StateKey("counters", "great"), to: .max - 1)
        _ = try await old.advance(StateKey("counters", "small"), to: 7)
        clock.advance(.seconds(1))

        let new = try await reopen(old, clock.host)
        let entries = try await new.list("kept", after: nil, limit: 1000)
        run.expect(entries == kept, "not all entries are there as they were written")
        try await run.expect(new.list("other", after: nil, limit: 9).count, 0, "deleted and expired entries listed")
        try await run.expect(
            new.insert(StateKey("kept", "a"), value: [], expires: nil), false, "insert of a kept entry")
        try await run.expect(new.advance(StateKey("counters", "great"), to: .max - 1), false, "advance to the same")
        try await run.expect(new.advance(StateKey("counters", "small"), to: 7), false, "advance to the same")
        try await run.expect(new.advance(StateKey("counters", "small"), to: 8), true, "advance to more")
    }
}

// MARK: - Surroundings of a check

extension StateStoreSuite {
    /// One check under way: its store, its clock, and what it found.
    private final class Run: Sendable {
        let store: any StateStore
        let clock: SuiteClock
        private let promise: String
        private let found = Mutex<[SuiteFailure]>([])

        init(promise: String, store: any StateStore, clock: SuiteClock) {
            self.promise = promise
            self.store = store
            self.clock = clock
        }

        /// What was found, each finding once.
        var failures: [SuiteFailure] { found.withLock { $0 } }

        func expect(_ holds: Bool, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            let failure = SuiteFailure(promise: promise, detail: detail())
            found.withLock { if !$0.contains(failure) { $0.append(failure) } }
        }

        func expect<T: Equatable & Sendable>(_ actual: T, _ expected: T, _ what: String) {
            expect(actual == expected, "\(what): expected \(expected), got \(actual)")
        }
    }

    /// A clock that a check moves.
    private final class SuiteClock: Sendable {
        private static let start = Instant(seconds: 1_800_000_000)

        private let time = Mutex(start)

        var now: Instant { time.withLock { $0 } }

        var host: HostClock {
            HostClock(now: { self.now }, uptime: { self.now - Self.start }, sleep: { self.advance($0) })
        }

        func advance(_ duration: Duration) {
            time.withLock { $0 = $0 + duration }
        }
    }
}
