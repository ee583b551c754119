internal import AssayCore
internal import AssayKit

/// What the descriptor of a store claims.
extension StateStoreSuite {
    /// Why nothing was opened again.
    func unkept(_ run: Run) {
        guard let descriptor = run.descriptor, descriptor.survival != .nothing else {
            return run.skip("the store keeps nothing")
        }
        run.expect(
            false,
            """
            the descriptor says that data survives (`\(descriptor.survival.rawValue)`), and the suite was not told how to open it \
            again
            """)
    }

    @Sendable func durability(_ run: Run) async throws {
        guard let descriptor = run.descriptor, descriptor.survival != .nothing else {
            return run.skip("the store does not say that data survives")
        }
        guard let location = run.place.location else {
            return run.overlook("the suite was given no location to open while the store is open: see `reopening`")
        }
        let history = History(clock: run.clock)
        let (count, copies) = (history.count, try StoreFiles(location))
        defer { copies?.remove() }
        for operation in 0..<count {
            try await history.perform(operation, on: run.store)
            // Nothing is closed, as after `kill -9`.
            // What looks at a store changes it, so that only a copy is looked at more than once.
            guard operation == count - 1 || copies != nil && operation < 3 else { continue }
            let other: (any StateStore)?
            if let copies {
                other = try await opened(copies.copy(), run)
            } else {
                guard descriptor.sharing != .process else {
                    return run.overlook("there is no file at the location that could be copied while the store is open")
                }
                other = try await run.another()
            }
            guard let other else { return }
            try await run.expect(
                history.operations(in: other), operation + 1,
                "operations that are found without a close, after so many had ended")
            await run.place.closeLast()
        }
    }

    func opened(_ location: String, _ run: Run) async throws -> (any StateStore)? {
        let store = try await run.progress.during("open") { try await run.place.other(location, run.clock.host) }
        return store.map { NotedStore(store: $0, progress: run.progress) }
    }

    @Sendable func powerLoss(_ run: Run) async throws {
        switch run.descriptor?.survival {
        case .powerLoss?:
            run.overlook("only a machine that loses its power shows whether the disk has confirmed what was written")
        case .machineLoss?:
            run.overlook("only the loss of a machine shows whether others have what was written")
        case .nothing?, .processEnd?, nil: run.skip("the store does not say so")
        }
    }

    @Sendable func sharing(_ run: Run) async throws {
        guard let sharing = run.descriptor?.sharing else {
            return run.skip("no operator can choose this store, and no other process opens it")
        }
        guard run.place.location != nil else {
            return run.overlook("the suite was given no location to open while the store is open")
        }
        guard sharing != .process else {
            guard run.descriptor?.survival != .nothing else { return run.skip("the store does not say so") }
            if (try? await run.another()) ?? nil != nil {
                run.overlook("a second store in this process is opened; whether one of another process is refused")
            }
            return
        }
        guard let other = try await run.another() else { return }
        let (stores, expires) = ([run.store, other], run.clock.now + .seconds(60))
        let key = StateKey("suite", "shared")
        for (index, store) in stores.enumerated() {
            try await store.put(key, value: [UInt8(index)], expires: nil)
            try await run.expect(stores[1 - index].get(key), [UInt8(index)], "get of what another store has just put")
        }
        try await run.expect(other.list("suite", after: nil, limit: 9).count, 1, "entries of another store listed")
        try await run.store.put(key, value: nil, expires: nil)
        try await run.expect(other.get(key), nil, "get of what another store has deleted")
        for round in 0..<5 {
            let made = try await withThrowingTaskGroup(of: Bool.self) { group in
                for task in 0..<concurrency {
                    let changes: [StateChange] = [
                        .insert(StateKey("suite/once", "\(round)"), value: [1], expires: expires, isListed: false),
                        .advance(StateKey("suite/once", "\(round)"), to: UInt64(round + 1)),
                    ]
                    group.addTask { try await stores[task % 2].commit(changes) == nil }
                }
                return try await group.reduce(into: 0) { if $1 { $0 += 1 } }
            }
            run.expect(made == 1, "of \(concurrency) commits of one key by two stores \(made) were made")
            for store in stores {
                try await run.expect(
                    store.advance(StateKey("suite/once", "\(round)"), to: UInt64(round + 1)), false,
                    "advance to what another store took")
            }
        }
    }
}
