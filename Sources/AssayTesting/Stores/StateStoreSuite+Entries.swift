internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    @Sendable func insertOnce(_ run: Run) async throws {
        for round in 0..<10 {
            try await raceToInsert(StateKey("suite", "once-\(round)"), run)
        }
    }

    @Sendable func insertOnceAgain(_ run: Run) async throws {
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

    @Sendable func expiry(_ run: Run) async throws {
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

    /// The ways that let a store remove expired entries.
    ///
    /// Each has a space of its own, so that none covers for another.
    private static let occasions:
        [(name: String, take: @Sendable (any StateStore, StateKey, Instant) async throws -> Void)] = [
            (
                "writes",
                { store, key, end in
                    for index in 0..<60 {
                        _ = try await store.insert(StateKey("other", "\(index)"), value: [], expires: end)
                        try await store.put(StateKey(key.space, "later"), value: [1], expires: end)
                    }
                }
            ),
            ("get", { store, key, _ in _ = try await store.get(key) }),
            ("list", { store, key, _ in _ = try await store.list(key.space, after: nil, limit: 100) }),
        ]

    @Sendable func clockSetBack(_ run: Run) async throws {
        let (store, clock) = (run.store, run.clock)
        let expires = clock.now + .seconds(5)
        func keys(_ occasion: String) -> [StateKey] {
            (0..<20).map { StateKey("suite-\(occasion)", "used-\($0)") }
        }
        for (occasion, _) in Self.occasions {
            for key in keys(occasion) {
                try await run.expect(store.insert(key, value: [], expires: expires), true, "insert")
            }
        }
        clock.advance(.seconds(90_000))
        for (occasion, take) in Self.occasions {
            for key in keys(occasion) { try await take(store, key, clock.now + .seconds(60)) }
        }
        clock.advance(.seconds(-90_000))
        try await refuseUsed(store, run, keys, expires)
        let late = expires + .milliseconds(1)
        try await run.expect(
            store.insert(StateKey("suite-writes", "new"), value: [], expires: late), true,
            "insert of what expires after all that was removed")
        try await run.expect(
            store.insert(StateKey("suite-writes", "lasting"), value: [], expires: nil), true, "insert without expiry")
        try await run.expect(
            store.insert(StateKey("third", "new"), value: [], expires: expires), true, "insert into another space")
        try await refuseUsedLater(run, keys("writes")[0], expires)
        guard isReopened, let again = try await run.reopen() else { return }
        try await refuseUsed(again, run, keys, expires)
    }

    @Sendable func clockAhead(_ run: Run) async throws {
        let (store, clock) = (run.store, run.clock)
        let day = Duration.seconds(86_400)
        for (occasion, _) in Self.occasions {
            for (name, expires) in [("used", clock.now + .seconds(60)), ("lasting", clock.now + day * 7)] {
                try await run.expect(
                    store.insert(StateKey("suite-\(occasion)", name), value: [7], expires: expires), true, "insert")
            }
        }
        clock.misset(by: day * 30)
        for (occasion, take) in Self.occasions {
            for name in ["used", "lasting"] {
                try await take(store, StateKey("suite-\(occasion)", name), clock.now + .seconds(60))
            }
        }
        clock.advance(.seconds(3))
        for (occasion, take) in Self.occasions {
            try await take(store, StateKey("suite-\(occasion)", "used"), clock.now + .seconds(60))
        }
        clock.misset(by: .zero)
        for (occasion, _) in Self.occasions {
            for name in ["used", "lasting"] {
                try await run.expect(
                    store.get(StateKey("suite-\(occasion)", name)), [7],
                    "get of what was there while the clock was ahead (\(occasion))")
            }
            try await run.expect(
                store.insert(StateKey("suite-\(occasion)", "new"), value: [], expires: clock.now + .seconds(60)), true,
                "insert of what is new, after a clock that was ahead for a moment (\(occasion))")
        }
    }

    private func refuseUsed(
        _ store: any StateStore, _ run: Run, _ keys: (String) -> [StateKey], _ expires: Instant
    ) async throws {
        for (occasion, _) in Self.occasions {
            for key in keys(occasion) {
                try await run.expect(
                    store.insert(key, value: [], expires: expires), false,
                    "insert of what was there before the clock was set forward and back (\(occasion))")
            }
        }
    }

    @Sendable func replacement(_ run: Run) async throws {
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

    @Sendable func wholeValues(_ run: Run) async throws {
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
