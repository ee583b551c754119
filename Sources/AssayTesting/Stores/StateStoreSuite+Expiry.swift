internal import AssayCore
internal import AssayKit

/// When entries end, and that they make room.
extension StateStoreSuite {
    @Sendable func expiryExact(_ run: Run) async throws {
        let (store, clock) = (run.store, run.clock)
        // To units of ten, a hundred and a thousand a careless store rounds up, down or to the nearest.
        for (round, length) in [1, 2, 9, 11, 99, 101, 499, 501, 999, 1001, 1499, 1501, 1999].enumerated() {
            let space = "exact-\(round)"
            let keys = ["inserted", "put", "unlisted"].map { StateKey(space, $0) }
            let expires = clock.now + .milliseconds(Int64(length))
            try await run.expect(store.insert(keys[0], value: [1], expires: expires), true, "insert")
            try await store.put(keys[1], value: [1], expires: expires)
            let unlisted = StateChange.insert(keys[2], value: [1], expires: expires, isListed: false)
            try await run.expectMade(store.commit([unlisted]), "an entry that need not be listed")
            let listed = try await store.list(space, after: nil, limit: 9)
            run.expect(
                listed.allSatisfy { $0.expires == expires }, "an entry of \(length) ms is listed with another end")
            clock.advance(.milliseconds(Int64(length - 1)))
            for key in keys {
                try await run.expect(store.get(key), [1], "get of an entry of \(length) ms, one before its end")
            }
            try await run.expect(
                store.insert(keys[0], value: [9], expires: nil), false,
                "insert over an entry of \(length) ms, one before its end")
            clock.advance(.milliseconds(1))
            for key in keys {
                try await run.expect(store.get(key), nil, "get of an entry of \(length) ms, at its end")
            }
            try await run.expect(
                store.list(space, after: nil, limit: 9).count, 0, "entries of \(length) ms listed, at their end")
            try await run.expect(
                store.insert(keys[0], value: [2], expires: clock.now + .seconds(60)), true,
                "insert over an entry of \(length) ms, at its end")
            // The next one begins at another fraction of a second.
            clock.advance(.milliseconds(237))
        }
    }

    /// Whether entries were removed is seen by what a store must remember of them: when the clock is set back, what ends no
    /// later than an entry that was removed is not inserted.
    @Sendable func removal(_ run: Run) async throws {
        if let removal { return run.overlook(removal) }
        let (store, clock, start) = (run.store, run.clock, ContinuousClock.now)
        let spaces = (0..<3).map { "suite/removal-\($0)" }
        let first = clock.now
        func end(_ index: Int) -> Instant { first + .seconds(60) + .milliseconds(Int64(index)) }
        let count = 64
        for space in spaces {
            for part in stride(from: 0, to: count, by: StateChange.limit) {
                let changes = (part..<(part + StateChange.limit)).map { index in
                    StateChange.insert(
                        StateKey(space, "\(index)"), value: [1], expires: end(index),
                        isListed: index.isMultiple(of: 2))
                }
                try await run.expectMade(store.commit(changes), "entries that are not there")
            }
        }
        var left = spaces
        for round in 0..<40 where !left.isEmpty && (round < 4 || ContinuousClock.now - start < .seconds(15)) {
            try await passTime(run, round)
            // As if all this had taken no time.
            clock.misset(by: first - clock.now)
            var still: [String] = []
            for space in left {
                let isRefused = try await !store.insert(
                    StateKey(space, "probe-\(round)"), value: [], expires: end(count - 1), isListed: false)
                if !isRefused { still.append(space) }
            }
            left = still
            clock.misset(by: .zero)
        }
        run.expect(
            left.isEmpty,
            """
            nothing shows that expired entries are removed: hours after their end, \(run.progress.calls) operations and a run \
            of `run()`, the store still inserts what a store that had removed them must refuse
            """)
    }

    /// Hours with writes and with what the store does beside them.
    private func passTime(_ run: Run, _ round: Int) async throws {
        let (store, clock) = (run.store, run.clock)
        // A clock is believed after ten minutes.
        for _ in 0..<3 {
            clock.advance(.seconds(3600))
            try await store.put(StateKey("suite/other", "passing"), value: [1], expires: nil)
        }
        for task in 0..<100 {
            try await store.put(
                StateKey("suite/other", "\(task)"), value: [1],
                expires: clock.now + .seconds(task.isMultiple(of: 2) ? 5 : 9))
        }
        guard let plugin = run.bare as? any StateStorePlugin else { return }
        let work = Task { try await plugin.run() }
        try await Task.sleep(for: .milliseconds(50 + 50 * round))
        work.cancel()
        if case .failure(let error) = await work.result, !(error is CancellationError) {
            run.expect(false, "`run()` threw \(error)")
        }
    }
}
