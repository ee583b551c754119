import AssayCore
import AssayKit

/// An entry; absent from the instant `expires` on.
struct Entry: Sendable {
    let value: [UInt8]
    let expires: Instant?

    func isLive(_ now: Instant) -> Bool { expires.map { now < $0 } ?? true }
}

/// What happens to a table.
enum Change: Sendable {
    /// An entry has this value from now on; nil when it is deleted.
    case entry(StateKey, Entry?)
    case counter(StateKey, UInt64)
    /// Entries that had expired were removed from the space, the last of them at this instant.
    case removal(space: String, Instant)

    init(_ change: StateChange) {
        self =
            switch change {
            case .insert(let key, let value, let expires, _): .entry(key, Entry(value: value, expires: expires))
            case .advance(let key, let value): .counter(key, value)
            }
    }

    var isDeletion: Bool {
        if case .entry(_, nil) = self { true } else { false }
    }
}

/// The contents of a store.
///
/// Spaces and names are compared by their bytes.
struct Table: Sendable {
    private var spaces: [ExactText: [ExactText: Entry]] = [:]
    private var counters: [StateKey: UInt64] = [:]
    private var removals: [ExactText: Instant] = [:]
    private(set) var count = 0

    mutating func apply(_ change: Change) {
        switch change {
        case .entry(let key, let entry):
            let old = spaces[ExactText(key.space), default: [:]].removeValue(forKey: ExactText(key.name))
            spaces[ExactText(key.space), default: [:]][ExactText(key.name)] = entry
            count += (entry == nil ? 0 : 1) - (old == nil ? 0 : 1)
        case .counter(let key, let value):
            if counters.updateValue(value, forKey: key) == nil { count += 1 }
        case .removal(let space, let instant):
            removals[ExactText(space)] = instant
        }
    }

    /// Whether the condition of a change holds.
    ///
    /// Entries that expired and were removed are not forgotten when the clock is set back.
    func admits(_ change: StateChange, _ now: Instant) -> Bool {
        switch change {
        case .insert(let key, _, let expires, _):
            if let expires, let last = removals[ExactText(key.space)], expires <= last { return false }
            return entry(key, now) == nil
        case .advance(let key, let value): return value > counters[key] ?? 0
        }
    }

    func entry(_ key: StateKey, _ now: Instant) -> Entry? {
        guard let entry = spaces[ExactText(key.space)]?[ExactText(key.name)], entry.isLive(now) else { return nil }
        return entry
    }

    func entries(_ space: String, after name: String?, limit: Int, _ now: Instant) -> [StateEntry] {
        let start = name.map { ExactText($0) }
        let live = (spaces[ExactText(space)] ?? [:]).filter { name, entry in
            entry.isLive(now) && start.map { $0 < name } ?? true
        }
        return live.sorted { $0.key < $1.key }.prefix(max(limit, 0)).map { name, entry in
            StateEntry(name: name.string, value: entry.value, expires: entry.expires)
        }
    }

    mutating func removeExpired(_ now: Instant) {
        for (space, entries) in spaces {
            let expired = entries.filter { !$0.value.isLive(now) }
            guard let last = expired.compactMap(\.value.expires).max() else { continue }
            removals[space] = max(last, removals[space] ?? last)
            for name in expired.keys { apply(.entry(StateKey(space.string, name.string), nil)) }
        }
    }

    /// The changes that make an empty table equal to this one.
    var changes: [Change] {
        removals.map { .removal(space: $0.key.string, $0.value) } + counters.map { .counter($0.key, $0.value) }
            + spaces.flatMap { space, entries in
                entries.map { .entry(StateKey(space.string, $0.key.string), $0.value) }
            }
    }
}
