internal import AssayCore
internal import AssayKit

/// What a refused commit leaves, and what others see of a commit.
extension StateStoreSuite {
    /// Commits that are refused at their last change, beside others that raise the same counters further and make the
    /// same entries.
    @Sendable func commitRefused(_ run: Run) async throws {
        let (store, expires) = (run.store, run.clock.now + .seconds(60))
        func insertion(_ name: String) -> StateChange {
            .insert(StateKey("suite", name), value: [1], expires: expires, isListed: false)
        }
        let start = ContinuousClock.now
        // What goes wrong by chance is looked for while there is time.
        for round in 0..<60 where round < 10 || ContinuousClock.now - start < .milliseconds(300) {
            let taken = insertion("\(round)-taken")
            try await run.expectMade(store.commit([taken]), "an entry")
            let names = (0..<max(concurrency / 2, 1)).map { "\(round)-\($0)" }
            func raised(_ name: String) -> StateKey { StateKey("suite/counters", name) }
            func untouched(_ name: String) -> StateKey { StateKey("suite/counters", "\(name)-untouched") }
            func own(_ name: String) -> StateChange { insertion("\(name)-own") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (index, name) in names.enumerated() {
                    let shared = insertion("\(name)-shared")
                    // What comes first in the refused commit is what the other commits are likely to meet.
                    let first: [StateChange] = [.advance(raised(name), to: 1), shared]
                    let changes =
                        (index.isMultiple(of: 2) ? first : first.reversed())
                        + [.advance(untouched(name), to: 1), taken]
                    group.addTask {
                        run.expect(try await store.commit(changes) != nil, "a commit with a taken entry was made")
                    }
                    group.addTask {
                        try await run.expectMade(
                            store.commit([.advance(raised(name), to: 2), own(name)]),
                            "a greater value for a counter of a refused commit")
                    }
                    guard !spansServers else { continue }
                    group.addTask {
                        try await run.expectMade(store.commit([shared]), "an entry of a refused commit")
                    }
                }
                try await group.waitForAll()
            }
            try await run.expect(store.get(taken.key), [1], "get of the entry that was there before")
            for name in names {
                try await run.expect(store.get(own(name).key), [1], "get of an entry of a commit that was made")
                try await run.expect(
                    store.advance(raised(name), to: 2), false, "advance to a value that a commit took")
                guard !spansServers else { continue }
                try await run.expect(
                    store.get(StateKey("suite", "\(name)-shared")), [1], "get of an entry beside refused commits")
                try await run.expect(
                    store.advance(untouched(name), to: 1), true, "advance to a value that only refused commits had")
            }
        }
    }

    /// Readers beside commits: who finds one entry of a commit finds the others from then on.
    @Sendable func commitReaders(_ run: Run) async throws {
        let (store, expires) = (run.store, run.clock.now + .seconds(60))
        let start = ContinuousClock.now
        for round in 0..<200 where round < 4 || ContinuousClock.now - start < .milliseconds(300) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<min(concurrency, 10) {
                    let isListed = task.isMultiple(of: 2)
                    let keys = (0..<4).map { StateKey("suite/readers/\(round)-\(task)", "\($0)") }
                    group.addTask {
                        let changes = keys.map {
                            StateChange.insert($0, value: [1], expires: expires, isListed: isListed)
                        }
                        try await run.expectMade(store.commit(changes), "four entries")
                    }
                    group.addTask {
                        for _ in 0..<500 where !Task.isCancelled {
                            let isWhole = try await isListed ? listsAll(keys, run) : findsAll(keys, run)
                            if isWhole { return }
                            await Task.yield()
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Returns whether the entries of a commit are there.
    private func findsAll(_ keys: [StateKey], _ run: Run) async throws -> Bool {
        let first = try await run.store.get(keys[0])
        let last = try await run.store.get(keys[3])
        let firstAgain = try await run.store.get(keys[0])
        run.expect(first == nil || last != nil, "a reader found the first entry and not the last")
        run.expect(last == nil || firstAgain != nil, "a reader found the last entry and not the first")
        return first != nil && last != nil
    }

    private func listsAll(_ keys: [StateKey], _ run: Run) async throws -> Bool {
        let first = try await run.store.get(keys[0])
        let count = try await run.store.list(keys[0].space, after: nil, limit: 9).count
        let last = try await run.store.get(keys[3])
        run.expect([0, keys.count].contains(count), "a list has \(count) of the \(keys.count) entries of a commit")
        run.expect(first == nil || count > 0, "a reader found the first entry, and a list has none of the commit")
        run.expect(count == 0 || last != nil, "a list has entries of a commit, and a reader does not find the last")
        return count == keys.count
    }

    /// What a store promises that makes the changes of a commit one after another; it may also make all or none.
    @Sendable func commitInOrder(_ run: Run) async throws {
        let (store, expires) = (run.store, run.clock.now + .seconds(60))
        let taken = StateKey("suite", "taken")
        let counter = StateKey("suite/counters", "raised")
        try await run.expect(store.insert(taken, value: [1], expires: expires), true, "an entry")
        try await run.expect(store.advance(counter, to: 5), true, "a counter")
        let refused: [StateChange] = [
            .insert(taken, value: [9], expires: expires, isListed: true), .advance(counter, to: 5),
        ]
        for count in [1, 2, 3, 5, StateChange.limit] {
            let whole = entries(count, "whole-\(count)", expires)
            let before = StateKey("suite/counters", "whole-\(count)")
            let changes = Array(whole.dropLast()) + [.advance(before, to: 7)]
            try await run.expectMade(store.commit(changes), "\(count) changes")
            for change in whole.dropLast() {
                try await run.expect(store.get(change.key), [1], "get of an entry of \(count) changes")
            }
            try await run.expect(
                store.advance(before, to: 7), false, "advance to the value that a commit of \(count) changes took")
            for index in Set([0, count / 2, count - 1]).sorted() {
                for (kind, refusal) in refused.enumerated() {
                    var list = entries(count, "part-\(count)-\(index)-\(kind)", expires)
                    list[index] = refusal
                    // A second one that cannot be made is not the one that is named.
                    if count - 1 > index { list[count - 1] = refused[1 - kind] }
                    let rest = index < count - 1 ? ", the last of which cannot be made either" : ""
                    try await run.expectRefused(store.commit(list), at: index, "\(count) changes\(rest)")
                    var isMade: [Bool] = []
                    for change in list[..<index] { isMade.append(try await store.get(change.key) != nil) }
                    run.expect(
                        !isMade.drop { $0 }.contains(true), "a change was made, and one before it was not")
                    for change in list[(index + 1)...] where change.key.space.isExactly("suite/parts") {
                        try await run.expect(store.get(change.key), nil, "get of an entry after the refused change")
                    }
                }
            }
        }
        try await run.expect(store.get(taken), [1], "get of the entry that was there before")
        try await run.expect(store.advance(counter, to: 6), true, "the counter, which no commit raised")
    }

    private func entries(_ count: Int, _ name: String, _ expires: Instant) -> [StateChange] {
        (0..<count).map { index in
            .insert(StateKey("suite/parts", "\(name)-\(index)"), value: [1], expires: expires, isListed: true)
        }
    }
}
