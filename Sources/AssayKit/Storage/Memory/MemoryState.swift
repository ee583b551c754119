internal import AssayCore

/// The contents of a ``MemoryStore``, and the rules by which they change.
struct MemoryState {
    typealias Bytes = [UInt8]

    /// A key as bytes: `String` treats different byte sequences as equal if Unicode calls them equivalent.
    struct Key: Hashable {
        let space: Bytes
        let name: Bytes

        init(_ key: StateKey) {
            space = Array(key.space.utf8)
            name = Array(key.name.utf8)
        }

        var count: Int { space.count + name.count }
    }

    struct Entry {
        let value: Bytes
        let expires: Instant?
        /// Distinguishes the entry that a deadline was set for from a later entry of the same key.
        var serial: UInt64 = 0

        init(value: Bytes, expires: Instant?) {
            self.value = value
            self.expires = expires
        }

        func isLive(_ now: Instant) -> Bool {
            expires.map { now < $0 } ?? true
        }
    }

    enum Change {
        case insert(Key, Entry)
        case advance(Key, to: UInt64)

        init(_ change: StateChange) {
            switch change {
            case .insert(let key, let value, let expires, _):
                self = .insert(Key(key), Entry(value: value, expires: expires))
            case .advance(let key, let value): self = .advance(Key(key), to: value)
            }
        }
    }

    private struct Deadline {
        let key: Key
        let serial: UInt64
    }

    /// The least number of expired entries that a write removes: more than the one that it can add.
    private static let removedEachWrite = 4

    private let limits: MemoryStore.Full
    private var spaces: [Bytes: [Bytes: Entry]] = [:]
    private var counters: [Key: UInt64] = [:]
    /// The latest expiry among the entries that were removed from each space because they had expired.
    private var purged: [Bytes: Instant] = [:]
    private var entryCount = 0
    private var bytes = 0
    private var serial: UInt64 = 0
    private var deadlines = ExpiryHeap<Deadline>()
    /// How many of the entries have a deadline; the other deadlines belong to entries that are gone.
    private var expiringCount = 0

    init(limits: MemoryStore.Full) {
        self.limits = limits
    }

    var count: Int { entryCount + counters.count }
    var deadlineCount: Int { deadlines.count }

    func entry(_ key: Key, _ now: Instant) -> Entry? {
        guard let entry = spaces[key.space]?[key.name], entry.isLive(now) else { return nil }
        return entry
    }

    func entries(of space: Bytes, after name: Bytes?, _ now: Instant) -> [Bytes: Entry] {
        guard let entries = spaces[space] else { return [:] }
        return entries.filter { candidate in
            candidate.value.isLive(now) && name.map { $0.lexicographicallyPrecedes(candidate.key) } ?? true
        }
    }

    /// Makes all changes or none; returns the index of the first one that cannot be made.
    ///
    /// - Parameter settled: what has expired by then may be removed.
    mutating func commit(_ changes: [Change], _ now: Instant, settled: Instant) throws(MemoryStore.Full) -> Int? {
        removeExpired(settled, atMost: Self.removedEachWrite * changes.count)
        if let refused = changes.firstIndex(where: { !admits($0, now) }) { return refused }
        let (entries, bytes) = changes.reduce((0, 0)) { sum, change in
            let size = size(of: change)
            return (sum.0 + size.entries, sum.1 + size.bytes)
        }
        try makeRoom(entries: entries, bytes: bytes, settled)
        // What was removed to make room can be in the way of a change.
        if let refused = changes.firstIndex(where: { !admits($0, now) }) { return refused }
        for change in changes {
            switch change {
            case .insert(let key, let entry):
                remove(key)
                add(key, entry)
            case .advance(let key, let value):
                if counters.updateValue(value, forKey: key) == nil { self.bytes += key.count }
            }
        }
        return nil
    }

    private func admits(_ change: Change, _ now: Instant) -> Bool {
        switch change {
        case .insert(let key, let entry):
            guard self.entry(key, now) == nil else { return false }
            // The entry may have existed, if the clock was set back since.
            guard let expires = entry.expires, let end = purged[key.space] else { return true }
            return expires > end
        case .advance(let key, let value): return value > counters[key] ?? 0
        }
    }

    /// What a change adds.
    private func size(of change: Change) -> (entries: Int, bytes: Int) {
        switch change {
        case .insert(let key, let entry): (1, key.count + entry.value.count)
        case .advance(let key, _): counters[key] == nil ? (1, key.count) : (0, 0)
        }
    }

    mutating func put(
        _ key: Key, _ entry: Entry?, _ now: Instant, settled: Instant
    ) throws(MemoryStore.Full) {
        removeExpired(settled, atMost: Self.removedEachWrite)
        guard let entry else {
            remove(key)
            return
        }
        if let live = self.entry(key, now) {
            try makeRoom(entries: 0, bytes: entry.value.count - live.value.count, settled)
        } else {
            remove(key)
            try makeRoom(entries: 1, bytes: key.count + entry.value.count, settled)
        }
        remove(key)
        add(key, entry)
    }

    private mutating func add(_ key: Key, _ entry: Entry) {
        var entry = entry
        serial &+= 1
        entry.serial = serial
        spaces[key.space, default: [:]][key.name] = entry
        entryCount += 1
        bytes += key.count + entry.value.count
        if let expires = entry.expires {
            expiringCount += 1
            deadlines.push(.init(expires: expires, payload: Deadline(key: key, serial: serial)))
        }
    }

    private mutating func remove(_ key: Key) {
        guard let entry = spaces[key.space]?.removeValue(forKey: key.name) else { return }
        if spaces[key.space]?.isEmpty ?? false { spaces[key.space] = nil }
        entryCount -= 1
        bytes -= key.count + entry.value.count
        if entry.expires != nil { expiringCount -= 1 }
        forgetDeadlines()
    }

    /// Throws unless an entry of this size fits after everything expired is removed.
    private mutating func makeRoom(entries: Int, bytes more: Int, _ settled: Instant) throws(MemoryStore.Full) {
        while count + entries > limits.maximumEntries || bytes + more > limits.maximumBytes {
            guard removeExpired(settled, atMost: 64) else { throw limits }
        }
    }

    /// Removes a few expired entries.
    ///
    /// Returns whether there was any deadline to look at.
    @discardableResult
    private mutating func removeExpired(_ settled: Instant, atMost limit: Int) -> Bool {
        var done = 0
        while done < limit, let earliest = deadlines.earliest, earliest.expires <= settled {
            done += 1
            _ = deadlines.pop()
            let key = earliest.payload.key
            guard spaces[key.space]?[key.name]?.serial == earliest.payload.serial else { continue }
            purged[key.space] = max(purged[key.space] ?? earliest.expires, earliest.expires)
            remove(key)
        }
        return done > 0
    }

    /// Removes the deadlines of missing entries when they are more than half of all: constant time on average.
    private mutating func forgetDeadlines() {
        guard deadlines.count > 2 * expiringCount + 64 else { return }
        let spaces = spaces
        deadlines.filter { spaces[$0.key.space]?[$0.key.name]?.serial == $0.serial }
    }
}
