internal import AssayCore
internal import AssayKit

/// Many entries, and long pages of them.
extension StateStoreSuite {
    @Sendable func largePages(_ run: Run) async throws {
        let (store, count) = (run.store, longestPage + 1)
        let names = try await fill(run, "suite/pages", count) { [UInt8(truncatingIfNeeded: $0)] }.map { padded($0) }
        guard names.count == count else {
            return run.overlook("the store took \(names.count) of \(count) entries")
        }
        for limit in [longestPage, longestPage / 2] {
            let page = try await store.list("suite/pages", after: nil, limit: limit)
            run.expect(page.count == limit, "a page of \(limit) has \(page.count) entries, and there are \(count)")
            let isInOrder = page.count <= count && zip(page, names).allSatisfy { $0.name.isExactly($1) }
            run.expect(isInOrder, "a page of \(limit) does not have the first names in their order")
            guard let last = page.last else { continue }
            let rest = try await store.list("suite/pages", after: last.name, limit: longestPage)
            run.expect(
                rest.count == count - page.count,
                "after a page of \(page.count) of \(count) entries \(rest.count) follow")
        }
        // A page has no bound of bytes that its caller did not set.
        let size = 128 << 10
        for index in 10..<34 {
            let value = [UInt8](repeating: UInt8(index), count: size)
            try await store.put(StateKey("suite/large", "\(index)"), value: value, expires: nil)
        }
        let large = try await store.list("suite/large", after: nil, limit: 100)
        run.expect(
            large.map(\.name).isExactly((10..<34).map { "\($0)" }) && large.allSatisfy { $0.value.count == size },
            "a page of 24 entries with \(size) bytes each has \(large.count) entries, or not their whole values")
    }

    @Sendable func capacity(_ run: Run) async throws {
        let (store, expires) = (run.store, run.clock.now + .seconds(3600))
        let counters = (0..<800).map { StateKey("suite/counters", "\($0)") }
        try await together(counters.count / StateChange.limit) { group in
            let part = counters[(group * StateChange.limit)..<((group + 1) * StateChange.limit)]
            try await run.expectMade(store.commit(part.map { .advance($0, to: 7) }), "counters that are not there")
        }
        let large = (0..<16).map { StateKey("suite/large", "\($0)") }
        for (index, key) in large.enumerated() {
            try await store.put(key, value: [UInt8](repeating: UInt8(index), count: 256 << 10), expires: expires)
        }
        let count = run.effort == .full ? manyEntries.full : manyEntries.quick
        let value: @Sendable (Int) -> [UInt8] = { Array("\($0) \(String(repeating: "x", count: 90))".utf8) }
        let written = try await fill(run, "suite/many", count, value)
        try await together(written.count) { position in
            let index = written[position]
            let found = try await store.get(StateKey("suite/many", padded(index)))
            run.expect(
                found == value(index), "of \(written.count) entries some are gone, or have another value")
        }
        for (index, key) in large.enumerated() {
            let found = try await store.get(key)
            run.expect(
                found == [UInt8](repeating: UInt8(index), count: 256 << 10),
                "an entry of 256 KiB is gone, or has another value, after \(written.count) others were written")
        }
        try await together(counters.count) { index in
            try await run.expect(
                store.advance(counters[index], to: 7), false,
                "advance to the value that a counter had before \(written.count) entries were written")
        }
    }

    /// Writes many entries, sixteen in each commit.
    ///
    /// Returns which were confirmed; a store may be full, and refuse the others.
    private func fill(
        _ run: Run, _ space: String, _ count: Int, _ value: @escaping @Sendable (Int) -> [UInt8]
    ) async throws -> [Int] {
        let expires = run.clock.now + .seconds(3600)
        let (size, written) = (StateChange.limit, SharedList<Int>())
        try await together((count + size - 1) / size) { group in
            let part = (group * size)..<min((group + 1) * size, count)
            let changes = part.map { index in
                StateChange.insert(
                    StateKey(space, padded(index)), value: value(index),
                    expires: index.isMultiple(of: 2) ? expires : nil, isListed: true)
            }
            do {
                let refused = try await run.store.commit(changes)
                run.expect(refused == nil, "an entry that was not there could not be inserted")
                part.forEach(written.append)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                // A store that is full refuses.
            }
        }
        return written.all.sorted()
    }

    /// Does many things, a few dozen at a time.
    private func together(_ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
        let tasks = min(concurrency, 50)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<tasks {
                group.addTask {
                    for index in stride(from: first, to: count, by: tasks) { try await body(index) }
                }
            }
            try await group.waitForAll()
        }
    }

    /// Names in the order of their numbers.
    private func padded(_ index: Int) -> String { "\(10_000_000 + index)" }
}
