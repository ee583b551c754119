internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    @Sendable func reopening(_ run: Run) async throws {
        guard isReopened else { return unkept(run) }
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
        // What need not be listed is kept as well.
        let ends: [Instant?] = [nil, clock.now + .seconds(60), clock.now + .seconds(3600)]
        let unlisted = ends.enumerated().map { index, end in
            StateChange.insert(
                StateKey("unlisted", "\(index)"), value: Self.bytes(of: index), expires: end, isListed: false)
        }
        for change in unlisted { _ = try await old.commit([change]) }
        clock.advance(.seconds(1))

        guard let new = try await run.reopen() else { return }
        let entries = try await new.list("kept", after: nil, limit: 1000)
        run.expect(entries == kept, "not all entries are there as they were written")
        try await run.expect(new.list("other", after: nil, limit: 9).count, 0, "deleted and expired entries listed")
        try await run.expect(
            new.insert(StateKey("kept", "a"), value: [], expires: nil), false, "insert of a kept entry")
        for (index, change) in unlisted.enumerated() {
            let what = "of an entry that need not be listed (\(index))"
            try await run.expect(new.get(change.key), Self.bytes(of: index), "get \(what)")
            try await run.expect(new.commit([change]), 0, "commit \(what) once more")
        }
        try await run.expect(new.advance(StateKey("counters", "great"), to: .max - 1), false, "advance to the same")
        try await run.expect(new.advance(StateKey("counters", "small"), to: 7), false, "advance to the same")
        try await run.expect(new.advance(StateKey("counters", "small"), to: 8), true, "advance to more")
    }
}
