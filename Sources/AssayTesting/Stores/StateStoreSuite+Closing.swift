internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    /// What `StateStorePlugin.close()` promises; stores that no operator can choose have none.
    @Sendable func closing(_ run: Run) async throws {
        guard let plugin = run.bare as? any StateStorePlugin else {
            return run.skip("no operator can choose this store, and nobody closes it")
        }
        let store = run.store
        run.place.noteClosed()
        let key = StateKey("suite", "closing")
        run.expect(try await store.insert(key, value: [1], expires: nil), "insert before the end")
        // Operations in progress end or throw: none is waited for for ever.
        let outcomes = await withTaskGroup(of: Int?.self) { group in
            for task in 0..<concurrency {
                group.addTask {
                    let taken = try? await store.insert(StateKey("closing", "\(task)"), value: [2], expires: nil)
                    return taken == true ? task : nil
                }
            }
            group.addTask {
                await run.progress.during("close") { await plugin.close() }
                return nil
            }
            return await group.reduce(into: [Int]()) { $0 += $1.map { [$0] } ?? [] }
        }
        await expectClosed(run, "get") { _ = try await store.get(key) }
        await expectClosed(run, "insert") {
            _ = try await store.insert(StateKey("suite", "later"), value: [], expires: nil)
        }
        await expectClosed(run, "put") { try await store.put(key, value: [3], expires: nil) }
        await expectClosed(run, "advance") { _ = try await store.advance(key, to: 1) }
        await expectClosed(run, "list") { _ = try await store.list("suite", after: nil, limit: 1) }
        guard isReopened, let again = try await run.reopen() else { return }
        try await run.expect(again.get(key), [1], "get of what was written before the end")
        try await run.expect(
            again.get(StateKey("suite", "later")), nil, "get of what was refused after the end")
        for task in outcomes {
            try await run.expect(
                again.get(StateKey("closing", "\(task)")), [2], "get of an insert that returned true before the end")
        }
    }

    private func expectClosed(_ run: Run, _ name: String, _ operation: () async throws -> Void) async {
        do {
            try await operation()
            run.expect(false, "\(name) of a closed store did not throw")
        } catch {
            // As it must.
        }
    }
}
