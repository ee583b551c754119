internal import AssayCore
internal import AssayKit

/// That each change of a commit is looked at, and not only the first of its kind.
extension StateStoreSuite {
    @Sendable func commitPositions(_ run: Run) async throws {
        let (store, expires) = (run.store, run.clock.now + .seconds(60))
        let (taken, raised) = (StateKey("suite", "taken"), StateKey("suite/counters", "raised"))
        try await run.expect(store.insert(taken, value: [1], expires: expires), true, "an entry")
        try await run.expect(store.advance(raised, to: 5), true, "a counter")
        let refusals: [StateChange] = [
            .insert(taken, value: [9], expires: expires, isListed: true), .advance(raised, to: 5),
            .insert(taken, value: [9], expires: nil, isListed: false),
        ]
        for count in [2, 3, StateChange.limit] {
            for index in 0..<count {
                for (kind, refusal) in refusals.enumerated() {
                    let name = "\(count)-\(index)-\(kind)"
                    var changes = mixed(count, name, expires)
                    changes[index] = refusal
                    try await run.expectRefused(
                        store.commit(changes), at: index, "a commit of \(count) changes, entries and counters in turn")
                    guard !spansServers else { continue }
                    try await expectUnmade(changes, except: index, run)
                }
            }
        }
        try await run.expect(store.get(taken), [1], "get of the entry that was there before")
        guard !spansServers else { return }
        // What no caller may ask for is refused as a whole.
        let long = mixed(StateChange.limit + 1, "long", expires)
        if await !isTaken(long, run) { try await expectUnmade(long, except: nil, run) }
        let twice = StateKey("suite", "twice")
        let pair = [[1], [2]].map {
            StateChange.insert(twice, value: $0, expires: expires, isListed: true)
        }
        run.expect(await !isTaken(pair, run), "two inserts of one key in one commit were made")
        try await run.expect(store.get(twice), nil, "get of a key that one commit inserts twice")
    }

    /// What expired and was removed is refused wherever it stands in a commit.
    func refuseUsedLater(_ run: Run, _ used: StateKey, _ expires: Instant) async throws {
        for count in [2, 3] {
            for index in 1..<count {
                var changes = (0..<count).map { position in
                    StateChange.insert(
                        StateKey(used.space, "fresh-\(count)-\(index)-\(position)"), value: [],
                        expires: expires + .seconds(60), isListed: false)
                }
                changes[index] = .insert(used, value: [], expires: expires, isListed: false)
                try await run.expectRefused(
                    run.store.commit(changes), at: index,
                    "a commit of \(count) inserts, one of what was there before the clock was set forward and back")
                guard !spansServers else { continue }
                try await run.expect(
                    run.store.get(changes[0].key), nil, "get of an entry before what was there before the clock was set"
                )
            }
        }
    }

    private func mixed(_ count: Int, _ name: String, _ expires: Instant) -> [StateChange] {
        (0..<count).map { position in
            position.isMultiple(of: 2)
                ? .insert(StateKey("suite/mixed", "\(name)-\(position)"), value: [1], expires: expires, isListed: false)
                : .advance(StateKey("suite/mixed", "\(name)-\(position)"), to: 7)
        }
    }

    /// Whether a commit is made that a store may also refuse by an error.
    private func isTaken(_ changes: [StateChange], _ run: Run) async -> Bool {
        do {
            return try await run.store.commit(changes) == nil
        } catch {
            return false
        }
    }

    private func expectUnmade(_ changes: [StateChange], except refused: Int?, _ run: Run) async throws {
        for (index, change) in changes.enumerated() where index != refused {
            run.expect(try await !isMade(change, run), "a change was made of a commit that was refused")
        }
    }

    private func isMade(_ change: StateChange, _ run: Run) async throws -> Bool {
        switch change {
        case .insert(let key, _, _, _): try await run.store.get(key) != nil
        // Only a counter that was raised refuses this.
        case .advance(let key, _): try await !run.store.advance(key, to: 1)
        }
    }
}
