import AssayCore
import AssayEngine
import AssayKit

/// A store that makes the changes of a commit one after another, as one that spans servers may, or in a wrong way.
actor SteppingStore: StateStore {
    enum Flaw: String, Sendable {
        case none
        /// A refused commit takes back what it made.
        case undoes
        /// Commits wait for each other; readers do not.
        case seenInParts
        case makesTheFirstOnly, forgetsARefusal, goesOn, backwards, namesTheNext
    }

    private let flaw: Flaw
    private let entries: MemoryStore
    private var counters: [StateKey: UInt64] = [:]
    private var unlisted: [StateKey] = []
    private var isBusy = false

    init(_ flaw: Flaw, clock: HostClock) {
        self.flaw = flaw
        entries = MemoryStore(clock: clock)
    }

    private struct Invalid: Error {}

    func commit(_ changes: [StateChange]) async throws -> Int? {
        guard StateChange.fault(in: changes) == nil else { throw Invalid() }
        switch flaw {
        case .none: return try await steps(changes)
        case .undoes: return try await undoing(changes)
        case .seenInParts:
            while isBusy { await Task.yield() }
            isBusy = true
            defer { isBusy = false }
            if changes.count > 1 {
                for (index, change) in changes.enumerated() where await isInTheWay(of: change) { return index }
            }
            return try await steps(changes)
        case .makesTheFirstOnly: return try await steps(Array(changes.prefix(1)))
        case .forgetsARefusal:
            let refused = try await steps(changes)
            return changes.count > 1 ? nil : refused
        case .goesOn:
            var first: Int?
            for (index, change) in changes.enumerated() where !(try await make(change)) { first = first ?? index }
            return first
        case .backwards: return try await steps(changes.reversed()).map { changes.count - 1 - $0 }
        case .namesTheNext: return try await steps(changes).map { changes.count > 1 ? $0 + 1 : $0 }
        }
    }

    func get(_ key: StateKey) async throws -> [UInt8]? { await entries.get(key) }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await entries.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        await entries.list(space, after: name, limit: limit)
    }

    /// What a restart does that loses the entries which need not be listed.
    func loseUnlisted() async throws {
        for key in unlisted { try await entries.put(key, value: nil, expires: nil) }
    }

    private func steps(_ changes: [StateChange]) async throws -> Int? {
        for (index, change) in changes.enumerated() {
            if index > 0 { await giveWay() }
            guard try await make(change) else { return index }
        }
        return nil
    }

    private func undoing(_ changes: [StateChange]) async throws -> Int? {
        var made: [(change: StateChange, old: UInt64?)] = []
        for (index, change) in changes.enumerated() {
            let old = counters[change.key]
            guard try await make(change) else {
                for (change, old) in made.reversed() {
                    switch change {
                    case .insert(let key, _, _, _): try await entries.put(key, value: nil, expires: nil)
                    case .advance(let key, _): counters[key] = old
                    }
                }
                return index
            }
            made.append((change, old))
            await giveWay()
        }
        return nil
    }

    private func isInTheWay(of change: StateChange) async -> Bool {
        switch change {
        case .insert(let key, _, _, _): await entries.get(key) != nil
        case .advance(let key, let value): value <= counters[key] ?? 0
        }
    }

    private func make(_ change: StateChange) async throws -> Bool {
        switch change {
        case .insert(let key, _, _, let isListed):
            guard try await entries.commit([change]) == nil else { return false }
            if !isListed { unlisted.append(key) }
            return true
        case .advance(let key, let value):
            guard value > counters[key] ?? 0 else { return false }
            counters[key] = value
            return true
        }
    }

    private func giveWay() async {
        for _ in 0..<20 { await Task.yield() }
    }
}
