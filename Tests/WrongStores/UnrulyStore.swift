import AssayCore
import AssayKit
import Foundation

/// A store in memory that does to its process what no store may, for one name or one value.
struct UnrulyStore: StateStore {
    enum Way: String, CaseIterable {
        /// Stops at an error of the program, as an index that is out of bounds is.
        case traps
        /// Ends the process, as if all were well.
        case exits
        /// Overflows the stack.
        case recurses
        /// Never answers.
        case hangs
        /// Blocks all threads that tasks of the process have.
        case blocks
    }

    private let way: Way
    private let store: MemoryStore

    init(_ way: Way, clock: HostClock) {
        self.way = way
        store = MemoryStore(clock: clock)
    }

    func commit(_ changes: [StateChange]) async throws -> Int? { try await store.commit(changes) }

    func get(_ key: StateKey) async throws -> [UInt8]? { await store.get(key) }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        if (value?.count ?? 0) > 1 << 20 { try await misbehave() }
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        await store.list(space, after: name, limit: limit)
    }

    private func misbehave() async throws {
        switch way {
        case .traps: preconditionFailure("as this store does")
        case .exits: exit(0)
        case .recurses: _ = Self.depth(1)
        case .hangs: try await Task.sleep(for: .seconds(100_000))
        case .blocks:
            let tasks = (0..<64).map { _ in Task.detached { sleep(100_000) } }
            for task in tasks { _ = await task.value }
        }
    }

    @inline(never)
    private static func depth(_ number: Int) -> Int {
        number == .max ? 0 : depth(number &+ 1) &+ number
    }
}
