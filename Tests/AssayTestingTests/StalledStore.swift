import AssayCore
import AssayKit
import Dispatch
import Foundation

/// A store in memory that makes its callers wait.
struct StalledStore: StateStore {
    enum Way: Sendable {
        /// Each operation sleeps, and the store says that it never blocks.
        case sleeps
        /// Each operation waits for another thread, and the store says that it never blocks.
        case waitsForAnotherThread
        /// The same, and the store says so.
        case blocksAndSaysSo
        /// An operation waits for ever, without a thread.
        case neverAnswers
        /// Operations wait for ever, on the threads that call them.
        case blocksForEver
    }

    private let way: Way
    private let store: MemoryStore
    private let queue = DispatchQueue(label: "stalled")

    init(_ way: Way, clock: HostClock) {
        self.way = way
        store = MemoryStore(clock: clock)
    }

    var neverBlocks: Bool { way != .blocksAndSaysSo }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        try await stall(changes[0].key)
        return try await store.commit(changes)
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        try await stall(key)
        return await store.get(key)
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await stall(key)
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        await store.list(space, after: name, limit: limit)
    }

    private func stall(_ key: StateKey) async throws {
        switch way {
        case .sleeps: if key.space == "suite/blocking" { Self.sleep() }
        case .waitsForAnotherThread, .blocksAndSaysSo: if key.space == "suite/blocking" { wait() }
        case .neverAnswers: if key.name == "replaced" { try await Task.sleep(for: .seconds(100_000)) }
        case .blocksForEver: if key.name == "replaced" { Self.block() }
        }
    }

    private static func sleep() { usleep(200) }

    private func wait() {
        let semaphore = DispatchSemaphore(value: 0)
        queue.asyncAfter(deadline: .now() + .microseconds(100)) { semaphore.signal() }
        semaphore.wait()
    }

    private static func block() { DispatchSemaphore(value: 0).wait() }
}
