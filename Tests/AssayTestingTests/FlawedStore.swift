import AssayCore
import AssayKit
import Synchronization

/// A small store that is right, or wrong in one way.
final class FlawedStore: StateStore {
    enum Flaw: Sendable {
        case none, insertInTwoSteps, insertReplaces, expiryIgnored, expiryLate, expiredStillInTheWay, expiredForgotten,
            expiredForgottenByGet, expiredForgottenByList, putKeepsExpiry
        case counterGoesDown, counterInTwoSteps, counterTakesEqual, counterSigned, counterIsEntry
        case commitInSteps, commitNamesLast
        case listUnsorted, listIncludesStart, listIgnoresLimit, listOfAllSpaces
        case namesEndAtNUL, namesAsText, spaceJoinedToName, valuesCutOff, emptyValueAbsent, torn, forgetful, failing
        case expiryToSeconds, expiryToHundredths, neverRemoves, removesOneSpace
        case commitLooksAtFirst, commitLooksAtFirstOfEachKind, commitRemembersForFirst, commitTakesPairs
        case pagesCapped, pagesCappedInBytes, dropsOldest, dropsCounters, dropsByBytes
    }

    struct Failing: Error {}

    private typealias Key = [[UInt8]]

    private struct State {
        var entries: [Key: StateEntry] = [:]
        var counters: [Key: UInt64] = [:]
        /// When the last entry that was removed from each space had ended.
        var removed: [[UInt8]: Instant] = [:]
        var nextRemoval = Instant(milliseconds: .min)
        /// The names in the order in which they were written.
        var order: [Key] = []
        var bytes = 0
    }

    /// What the bounded ones hold at most.
    static let bound = 1500

    private let flaw: Flaw
    private let clock: HostClock
    private let settled: SettledTime
    private let state = Mutex(State())

    init(_ flaw: Flaw, clock: HostClock) {
        self.flaw = flaw
        self.clock = clock
        settled = SettledTime(clock)
    }

    func commit(_ changes: [StateChange]) async throws -> Int? {
        if flaw == .failing, changes.contains(where: \.isInsertion) { throw Failing() }
        let (now, settled) = (clock.now, settled.now)
        if flaw != .commitTakesPairs, StateChange.fault(in: changes) != nil { throw Failing() }
        state.withLock { removeExpired(settled, &$0) }
        if flaw == .expiredForgotten {
            state.withLock { $0.entries = $0.entries.filter { $0.value.expires.map { now < $0 } ?? true } }
        }
        if changes.count == 1, flaw == (changes[0].isInsertion ? .insertInTwoSteps : .counterInTwoSteps) {
            let refused = state.withLock { state in changes.firstIndex { !admits($0, state, now) } }
            if let refused { return refused }
            await giveWay()
            state.withLock { state in for change in changes { make(change, &state) } }
            return nil
        }
        if flaw == .commitInSteps {
            for (index, change) in changes.enumerated() {
                let isMade = state.withLock { state in
                    guard admits(change, state, now) else { return false }
                    make(change, &state)
                    return true
                }
                guard isMade else { return index }
                await giveWay()
            }
            return nil
        }
        return state.withLock { state in
            guard
                let refused = changes.firstIndex(where: {
                    isLookedAt($0, changes) && !admits($0, state, now, isFirst: $0 == changes[0])
                })
            else {
                for change in changes { make(change, &state) }
                return nil
            }
            if flaw == .insertReplaces, case .insert = changes[refused] { make(changes[refused], &state) }
            return flaw == .commitNamesLast ? changes.count - 1 : refused
        }
    }

    private func isLookedAt(_ change: StateChange, _ changes: [StateChange]) -> Bool {
        switch flaw {
        case .commitLooksAtFirst: change == changes[0]
        case .commitLooksAtFirstOfEachKind: change == changes.first { $0.isInsertion == change.isInsertion }
        default: true
        }
    }

    /// Removes what has expired, now and then, and remembers until when.
    private func removeExpired(_ settled: Instant, _ state: inout State) {
        let forgets: [Flaw] = [.neverRemoves, .expiredForgotten, .expiredForgottenByGet, .expiredForgottenByList]
        guard settled >= state.nextRemoval, !forgets.contains(flaw) else { return }
        for (key, entry) in state.entries where !isLive(entry, settled) {
            guard let expires = entry.expires, flaw != .expiryIgnored else { continue }
            if flaw == .removesOneSpace, state.removed[key[0]] == nil, state.removed.count > 1 { continue }
            state.entries[key] = nil
            state.removed[key[0]] = max(state.removed[key[0]] ?? expires, expires)
        }
        state.nextRemoval = settled + .seconds(600)
    }

    private func bound(_ state: inout State) {
        while flaw == .dropsOldest && state.order.count > Self.bound
            || flaw == .dropsByBytes && state.bytes > 4 << 20
        {
            guard let oldest = state.order.first else { return }
            state.order.removeFirst()
            state.bytes -= state.entries.removeValue(forKey: oldest)?.value.count ?? 0
        }
        if flaw == .dropsCounters, state.counters.count > 100, let any = state.counters.keys.first {
            state.counters[any] = nil
        }
    }

    private func admits(
        _ change: StateChange, _ state: State, _ now: Instant, isFirst: Bool = true
    ) -> Bool {
        switch change {
        case .insert(let key, _, let expires, _):
            let remembers = isFirst || flaw != .commitRemembersForFirst
            if remembers, let expires, let last = state.removed[identity(key)[0]], expires <= last { return false }
            return isFree(identity(key), state, now)
        case .advance(let key, let value):
            let old = state.counters[identity(key)] ?? 0
            return switch flaw {
            case .counterGoesDown: value != old
            case .counterTakesEqual: value >= old
            case .counterSigned: Int64(bitPattern: value) > Int64(bitPattern: old)
            default: value > old
            }
        }
    }

    private func make(_ change: StateChange, _ state: inout State) {
        switch change {
        case .insert(let key, let value, let expires, _):
            state.entries[identity(key)] = entry(key.name, value, expires)
            state.order.append(identity(key))
            state.bytes += value.count
            bound(&state)
        case .advance(let key, let value):
            state.counters[identity(key)] = value
            bound(&state)
            if flaw == .counterIsEntry { state.entries[identity(key)] = entry(key.name, [], nil) }
        }
    }

    func get(_ key: StateKey) async throws -> [UInt8]? {
        let (id, now) = (identity(key), clock.now)
        return state.withLock { state in
            guard let entry = state.entries[id], isLive(entry, now) else {
                if flaw == .expiredForgottenByGet { state.entries[id] = nil }
                return nil
            }
            return flaw == .emptyValueAbsent && entry.value.isEmpty ? nil : entry.value
        }
    }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        let (id, settled) = (identity(key), settled.now)
        state.withLock { removeExpired(settled, &$0) }
        guard let value else {
            state.withLock { $0.entries[id] = nil }
            return
        }
        if flaw == .torn {
            write(id, key.name, Array(value.prefix(value.count / 2)), expires)
            await giveWay()
        }
        let old = state.withLock { $0.entries[id]?.expires }
        write(id, key.name, value, flaw == .putKeepsExpiry ? old ?? expires : expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        let now = clock.now
        let prefix = identity(StateKey(space, ""))[0]
        let start = name.map { Array($0.utf8) }
        if flaw == .expiredForgottenByList {
            state.withLock { $0.entries = $0.entries.filter { $0.key[0] != prefix || isLive($0.value, now) } }
        }
        var entries = state.withLock { state in
            state.entries.filter { $0.key[0] == prefix || flaw == .listOfAllSpaces }.values.filter { isLive($0, now) }
        }
        entries = entries.filter { entry in
            start.map { start in
                start.lexicographicallyPrecedes(Array(entry.name.utf8))
                    || flaw == .listIncludesStart && start == Array(entry.name.utf8)
            } ?? true
        }
        if flaw != .listUnsorted {
            entries.sort { Array($0.name.utf8).lexicographicallyPrecedes(Array($1.name.utf8)) }
        }
        if flaw == .pagesCapped { entries = Array(entries.prefix(1000)) }
        if flaw == .pagesCappedInBytes {
            var bytes = 0
            entries = Array(
                entries.prefix { entry in
                    bytes += entry.value.count
                    return bytes < 1 << 21
                })
        }
        return flaw == .listIgnoresLimit ? entries : Array(entries.prefix(max(limit, 0)))
    }

    /// Once is not enough for certain on a busy machine, or under a sanitizer.
    private func giveWay() async {
        for _ in 0..<20 { await Task.yield() }
    }

    private func write(_ id: Key, _ name: String, _ value: [UInt8], _ expires: Instant?) {
        state.withLock { state in
            state.entries[id] = entry(name, value, expires)
            state.order.append(id)
            state.bytes += value.count
            bound(&state)
        }
    }

    private func entry(_ name: String, _ value: [UInt8], _ expires: Instant?) -> StateEntry {
        let value = flaw == .valuesCutOff ? Array(value.prefix(1 << 16)) : value
        return StateEntry(name: name, value: value, expires: expires)
    }

    private func isFree(_ id: Key, _ state: State, _ now: Instant) -> Bool {
        guard let entry = state.entries[id] else { return true }
        return flaw != .expiredStillInTheWay && !isLive(entry, now)
    }

    private func isLive(_ entry: StateEntry, _ now: Instant) -> Bool {
        guard flaw != .expiryIgnored, let expires = entry.expires else { return true }
        return switch flaw {
        case .expiryLate: now <= expires
        case .expiryToSeconds: now.milliseconds < (min(expires.milliseconds, .max - 999) + 999) / 1000 * 1000
        case .expiryToHundredths: now.milliseconds < expires.milliseconds / 10 * 10
        default: now < expires
        }
    }

    private func identity(_ key: StateKey) -> Key {
        switch flaw {
        case .namesEndAtNUL: [key.space, key.name].map { Array($0.utf8.prefix { $0 != 0 }) }
        case .namesAsText: [key.space, key.name].map { Array(($0 == "\u{e9}" ? "e\u{301}" : $0).utf8) }
        case .spaceJoinedToName: [Array("\(key.space):\(key.name)".utf8)]
        default: [Array(key.space.utf8), Array(key.name.utf8)]
        }
    }
}

extension StateChange {
    fileprivate var isInsertion: Bool {
        if case .insert = self { true } else { false }
    }
}
