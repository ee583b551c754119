internal import AssayCore

/// Which of the keys of one kind, the newest first, is in use when.
///
/// A key is in use from the time when it begins until another begins. So a change that is due later needs nobody to
/// make it when its time comes: every server finds the same key at the same time.
extension Array where Element: RingKey {
    /// The keys that begin at a known time, in that order; of two that begin together, the older one comes first.
    var succession: [Int] {
        indices.reversed().filter { self[$0].times.isUsable && self[$0].times.begins != nil }
            .sorted { begins(self[$0]) < begins(self[$1]) }
    }

    /// The key that signs or seals at a time; with a clock that was set back before all of them, the first.
    func inUse(at now: Instant) -> Int? {
        let order = succession
        return order.last { begins(self[$0]) <= now } ?? order.first
    }

    /// Those that will begin by themselves.
    func pending(at now: Instant) -> [Int] {
        let present = inUse(at: now)
        return succession.filter { $0 != present && begins(self[$0]) > now }
    }

    /// Those that wait to be activated.
    var waiting: [Int] {
        indices.filter { self[$0].times.isUsable && self[$0].times.begins == nil }
    }

    /// When a key is, was or will be retired; nil when nothing is known of that.
    func retirement(of index: Int) -> Instant? {
        if let retired = self[index].times.retired { return retired }
        let order = succession
        guard let position = order.firstIndex(of: index), position + 1 < order.count else { return nil }
        return begins(self[order[position + 1]])
    }

    /// What a key is at a time.
    func state(of index: Int, at now: Instant) -> KeyState {
        let times = self[index].times
        if let revoked = times.revoked { return .revoked(since: revoked) }
        if let retired = times.retired { return .retired(since: retired) }
        guard times.begins != nil else { return .prepared }
        if inUse(at: now) == index { return .active }
        guard let retired = retirement(of: index), retired <= now else { return .prepared }
        return .retired(since: retired)
    }

    /// When a key that may be activated from `ready` on begins by itself: after the present one, also where the clock
    /// was set back behind that one's beginning.
    func beginning(ready: Instant, now: Instant) -> Instant {
        guard let present = inUse(at: now) else { return ready }
        return Swift.max(ready, begins(self[present]) + .milliseconds(1))
    }

    /// Writes down which keys others have followed, so that none of them comes back when its follower goes.
    mutating func settle(at now: Instant) {
        let ends = indices.map { retirement(of: $0) }
        for (index, end) in ends.enumerated() where self[index].times.isUsable {
            if let end, end <= now { self[index].times.retired = end }
        }
    }

    /// Puts a key in the place of the one that is in use.
    mutating func takeUp(_ index: Int, at now: Instant) {
        settle(at: now)
        if let present = inUse(at: now), present != index { self[present].times.retired = now }
        self[index].times.begins = now
    }

    private func begins(_ key: Element) -> Instant {
        key.times.begins ?? Instant(milliseconds: .max)
    }
}

/// What a key is at a time.
enum KeyState: Sendable, Equatable {
    /// It is published, or opens, and does not sign or seal yet.
    case prepared
    case active
    case retired(since: Instant)
    case revoked(since: Instant)
}

/// When a key was made, and from when it may do what.
struct KeyTimes: Sendable, Equatable {
    let created: Instant
    /// From when it may be activated: whoever has to know it before it is used has seen it by then.
    var ready: Instant
    /// From when it signs or seals, until another takes its place; nil while it waits to be activated.
    var begins: Instant?
    /// When it was taken out of use by word of somebody.
    ///
    /// That another began after it does so too, unwritten.
    var retired: Instant?
    /// When it was declared to be in wrong hands.
    var revoked: Instant?

    /// Those of a key that is used at once.
    static func active(from now: Instant) -> KeyTimes {
        KeyTimes(created: now, ready: now, begins: now)
    }

    /// Whether it is, or can come to be, the one that signs or seals.
    var isUsable: Bool { retired == nil && revoked == nil }
}

/// A key of a ring: one that signs, or one that seals.
protocol RingKey: Sendable {
    /// What operators know it by.
    var name: String { get }
    var times: KeyTimes { get set }
}
