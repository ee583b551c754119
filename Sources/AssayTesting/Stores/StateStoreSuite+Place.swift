internal import AssayCore
internal import AssayKit
internal import Synchronization

extension StateStoreSuite {
    /// Where the store of one check keeps its data, and the stores that were opened there.
    final class Place: Sendable {
        typealias Open = @Sendable (_ location: String, HostClock) async throws -> any StateStorePlugin

        private struct Opened: Sendable {
            let store: any StateStorePlugin
            var isClosed = false
        }

        /// Nil for a store that the program makes by itself.
        let location: String?
        private let make: Make
        private let reopening: Reopen?
        private let open: Open?
        private let opened = Mutex<[Opened]>([])

        init(make: @escaping Make, reopen: Reopen?) {
            (self.make, reopening, location, open) = (make, reopen, nil, nil)
        }

        init(location: String, open: @escaping Open) {
            (self.location, self.open, reopening) = (location, open, nil)
            make = { try await open(location, $0) }
        }

        /// The first store.
        func first(_ clock: HostClock) async throws -> any StateStore {
            let store = try await make(clock)
            if open != nil, let plugin = store as? any StateStorePlugin { note(plugin) }
            return store
        }

        /// What a restart does: the stores that are open are closed.
        func reopen(_ store: any StateStore, _ clock: HostClock) async throws -> (any StateStore)? {
            if let reopening { return try await reopening(store, clock) }
            guard open != nil else { return nil }
            await closeAll()
            return try await another(clock)
        }

        /// Opens the same data while other stores have it; nil where nobody said how.
        func another(_ clock: HostClock) async throws -> (any StateStorePlugin)? {
            guard let location else { return nil }
            return try await other(location, clock)
        }

        /// Opens other data.
        func other(_ location: String, _ clock: HostClock) async throws -> (any StateStorePlugin)? {
            guard let open else { return nil }
            let store = try await open(location, clock)
            note(store)
            return store
        }

        /// Says that a check closed the first store.
        func noteClosed() {
            opened.withLock { opened in
                if !opened.isEmpty { opened[0].isClosed = true }
            }
        }

        /// Closes the store that was opened last.
        func closeLast() async {
            let last = opened.withLock { $0.popLast() }
            if let last, !last.isClosed { await last.store.close() }
        }

        /// Closes all stores that are open.
        func closeAll() async {
            let open = opened.withLock { opened in
                defer { opened = [] }
                return opened.filter { !$0.isClosed }
            }
            for store in open { await store.store.close() }
        }

        private func note(_ store: any StateStorePlugin) {
            opened.withLock { $0.append(Opened(store: store)) }
        }
    }

    /// A store whose operations are noted.
    struct NotedStore: StateStore {
        let store: any StateStore
        let progress: CheckProgress

        func commit(_ changes: [StateChange]) async throws -> Int? {
            try await progress.during("commit") { try await store.commit(changes) }
        }

        func get(_ key: StateKey) async throws -> [UInt8]? {
            try await progress.during("get") { try await store.get(key) }
        }

        func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
            try await progress.during("put") { try await store.put(key, value: value, expires: expires) }
        }

        func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
            try await progress.during("list") { try await store.list(space, after: name, limit: limit) }
        }
    }
}
