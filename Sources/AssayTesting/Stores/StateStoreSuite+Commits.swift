internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    @Sendable func commit(_ run: Run) async throws {
        let (store, expires) = (run.store, run.clock.now + .seconds(60))
        func entry(_ name: String) -> StateKey { StateKey("suite", name) }
        let (counter, other) = (StateKey("suite/counters", "c"), StateKey("suite/others", "c"))
        func insertion(_ name: String, _ value: [UInt8] = [1]) -> StateChange {
            .insert(entry(name), value: value, expires: expires, isListed: true)
        }
        func expect(_ changes: [StateChange], _ refused: Int?, _ what: String) async throws {
            try await run.expect(store.commit(changes), refused, what)
        }
        try await expect([insertion("a"), .advance(counter, to: 5), .advance(other, to: 7)], nil, "three changes")
        try await run.expect(store.get(entry("a")), [1], "get of the entry of three changes")
        try await expect([insertion("b"), .advance(counter, to: 5)], 1, "an entry and a counter that is not raised")
        try await run.expect(store.get(entry("b")), nil, "get of the entry whose counter was not raised")
        try await expect([.advance(counter, to: 6), insertion("a", [9])], 1, "a counter and an entry that exists")
        try await run.expect(store.get(entry("a")), [1], "get of the entry that was not replaced")
        try await expect([.advance(counter, to: 6)], nil, "the counter, which a refused commit did not raise")
        try await expect(
            [insertion("c"), .advance(counter, to: 6), insertion("a")], 1, "the first of two that cannot be made")
        try await run.expect(store.get(entry("c")), nil, "get of an entry before two that cannot be made")
        try await expect([insertion("x"), insertion("y"), insertion("z")], nil, "three entries")
        for name in ["x", "y", "z"] { try await run.expect(store.get(entry(name)), [1], "get of \(name)") }
        let many = (0..<StateChange.limit).map { insertion("many-\($0)") }
        try await expect(many, nil, "as many changes as there may be")
        try await expect([insertion("more")] + Array(many.dropLast()), 1, "the same again after another one")
        try await run.expect(store.get(entry("more")), nil, "get of the entry before them")
        let unlisted = StateChange.insert(entry("unlisted"), value: [4], expires: expires, isListed: false)
        try await expect([unlisted], nil, "an entry that need not be listed")
        try await expect([unlisted], 0, "the same again")
        try await run.expect(store.get(entry("unlisted")), [4], "get of it")
    }

    /// Many tasks want two entries each, of which every two tasks share one.
    @Sendable func commitOnce(_ run: Run) async throws {
        let expires = run.clock.now + .seconds(60)
        for round in 0..<5 {
            let counter = StateKey("suite/counters", "\(round)")
            let made = try await withThrowingTaskGroup(of: Int?.self) { group in
                for task in 0..<concurrency {
                    let key = StateKey("suite", "\(round)-\(task)")
                    let shared = StateKey("suite", "\(round)-shared-\(task / 2)")
                    let changes: [StateChange] = [
                        .insert(key, value: [1], expires: expires, isListed: false),
                        .insert(shared, value: Self.number(task), expires: expires, isListed: false),
                        .advance(StateKey("\(counter.space)/\(task / 2)", counter.name), to: 1),
                    ]
                    group.addTask {
                        try await run.store.commit(task.isMultiple(of: 3) ? changes.reversed() : changes) == nil
                            ? task : nil
                    }
                }
                return try await group.reduce(into: Set<Int>()) { if let task = $1 { $0.insert(task) } }
            }
            for task in 0..<concurrency {
                let isWhole = try await run.store.get(StateKey("suite", "\(round)-\(task)")) != nil
                run.expect(
                    isWhole == made.contains(task), "task \(task): made \(made.contains(task)), found \(isWhole)")
            }
            for pair in 0..<(concurrency / 2) {
                let winners = made.filter { $0 / 2 == pair }
                run.expect(winners.count == 1, "\(winners.count) of two commits with a common key were made")
                let kept = try await run.store.get(StateKey("suite", "\(round)-shared-\(pair)"))
                run.expect(winners.contains { Self.number($0) == kept }, "the common entry is not that of the winner")
            }
        }
    }

    private static func number(_ task: Int) -> [UInt8] { Array("\(task)".utf8) }
}
