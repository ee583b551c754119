package import AssayCore

/// Tells which of the keys of one kind, the newest first, is in use at a time.
///
/// A key is in use from its beginning until another one begins. So a change that is due later takes effect without
/// further action: every server finds the same key at the same time.
extension Array where Element: RingKey {
    /// The keys that begin at a known time, in that order; of two with the same time, the older key comes first.
    var succession: [Int] {
        indices.reversed().filter { self[$0].times.isUsable && self[$0].times.begins != nil }
            .sorted { begins(self[$0]) < begins(self[$1]) }
    }

    /// The key that signs or seals at a time; the first one, if the clock was set back before all of them.
    func inUse(at now: Instant) -> Int? {
        let order = succession
        return order.last { begins(self[$0]) <= now } ?? order.first
    }

    /// The keys that will begin automatically.
    func pending(at now: Instant) -> [Int] {
        let present = inUse(at: now)
        return succession.filter { $0 != present && begins(self[$0]) > now }
    }

    /// The keys that wait to be activated.
    var waiting: [Int] {
        indices.filter { self[$0].times.isUsable && self[$0].times.begins == nil }
    }

    /// When a key is, was or will be retired; nil when that is not known.
    func retirement(of index: Int) -> Instant? {
        if let retired = self[index].times.retired { return retired }
        let order = succession
        guard let position = order.firstIndex(of: index), position + 1 < order.count else { return nil }
        return begins(self[order[position + 1]])
    }

    /// The state of a key at a time.
    func state(of index: Int, at now: Instant) -> KeyState {
        let times = self[index].times
        if let revoked = times.revoked { return .revoked(since: revoked) }
        if let retired = times.retired { return .retired(since: retired) }
        guard times.begins != nil else { return .prepared }
        if inUse(at: now) == index { return .active }
        guard let retired = retirement(of: index), retired <= now else { return .prepared }
        return .retired(since: retired)
    }

    /// The automatic beginning of a key that may be activated from `ready` on: after the present key's beginning, even
    /// if the clock was set back before it.
    func beginning(ready: Instant, now: Instant) -> Instant {
        guard let present = inUse(at: now) else { return ready }
        return Swift.max(ready, begins(self[present]) + .milliseconds(1))
    }

    /// Marks the keys that others have followed as retired, so that none becomes active again when its successor is
    /// removed.
    mutating func settle(at now: Instant) {
        let ends = indices.map { retirement(of: $0) }
        for (index, end) in ends.enumerated() where self[index].times.isUsable {
            if let end, end <= now { self[index].times.retired = end }
        }
    }

    /// Puts a key in the place of the active one.
    mutating func takeUp(_ index: Int, at now: Instant) {
        settle(at: now)
        if let present = inUse(at: now), present != index { self[present].times.retired = now }
        self[index].times.begins = now
    }

    private func begins(_ key: Element) -> Instant {
        key.times.begins ?? Instant(milliseconds: .max)
    }
}

/// The state of a key at a time.
enum KeyState: Sendable, Equatable {
    /// The key is published, or opens, but does not sign or seal yet.
    case prepared
    case active
    case retired(since: Instant)
    case revoked(since: Instant)
}

/// The times of a key: when it was made, and when it may start each use.
struct KeyTimes: Sendable, Equatable {
    let created: Instant
    /// The time from which it may be activated: by then, all who must know it have loaded it.
    var ready: Instant
    /// The time from which it signs or seals, until another takes its place; nil while it waits to be activated.
    var begins: Instant?
    /// When an operator took it out of use.
    ///
    /// A key also retires when another one begins, and that is not stored here.
    var retired: Instant?
    /// When it was revoked after a leak.
    var revoked: Instant?

    /// The times of a key that is used at once.
    static func active(from now: Instant) -> KeyTimes {
        KeyTimes(created: now, ready: now, begins: now)
    }

    /// Whether it signs or seals, or can do so later.
    var isUsable: Bool { retired == nil && revoked == nil }
}

/// A key of a ring: one that signs, or one that seals.
protocol RingKey: Sendable {
    /// The name of the key for operators.
    var name: String { get }
    var times: KeyTimes { get set }
}
