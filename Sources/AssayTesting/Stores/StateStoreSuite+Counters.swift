internal import AssayCore
internal import AssayKit
internal import Synchronization

extension StateStoreSuite {
    @Sendable func counter(_ run: Run) async throws {
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

    @Sendable func countersApart(_ run: Run) async throws {
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

    @Sendable func counterOrder(_ run: Run) async throws {
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
