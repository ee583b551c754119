package import AssayCore

/// Tells which of the keys of one kind, the newest first, is in use at a time.
///
/// A key is in use from its beginning until another one begins. So a change that is due later takes effect without
/// further action: every server finds the same key at the same time.
extension Array where Element: RingKey {
    /// The keys that begin at a known time, in that order; of two with the same time, the older key comes first.
    package var succession: [Int] {
        indices.reversed().filter { self[$0].times.isUsable && self[$0].times.begins != nil }
            .sorted { begins(self[$0]) < begins(self[$1]) }
    }

    /// The key that signs or seals at a time; the first one, if the clock was set back before all of them.
    package func inUse(at now: Instant) -> Int? {
        let order = succession
        return order.last { begins(self[$0]) <= now } ?? order.first
    }

    /// When a key is, was or will be retired; nil when that is not known.
    package func retirement(of index: Int) -> Instant? {
        if let retired = self[index].times.retired { return retired }
        let order = succession
        guard let position = order.firstIndex(of: index), position + 1 < order.count else { return nil }
        return begins(self[order[position + 1]])
    }

    /// The state of a key at a time.
    package func state(of index: Int, at now: Instant) -> KeyState {
        let times = self[index].times
        if let revoked = times.revoked { return .revoked(since: revoked) }
        if let retired = times.retired { return .retired(since: retired) }
        guard times.begins != nil else { return .prepared }
        if inUse(at: now) == index { return .active }
        guard let retired = retirement(of: index), retired <= now else { return .prepared }
        return .retired(since: retired)
    }

    package func begins(_ key: Element) -> Instant {
        key.times.begins ?? Instant(milliseconds: .max)
    }
}

/// The state of a key at a time.
package enum KeyState: Sendable, Equatable {
    /// The key is published, or opens, but does not sign or seal yet.
    case prepared
    case active
    case retired(since: Instant)
    case revoked(since: Instant)
}

/// The times of a key: when it was made, and when it may start each use.
package struct KeyTimes: Sendable, Equatable {
    package let created: Instant
    /// The time from which it may be activated: by then, all who must know it have loaded it.
    package var ready: Instant
    /// The time from which it signs or seals, until another takes its place; nil while it waits to be activated.
    package var begins: Instant?
    /// When an operator took it out of use.
    ///
    /// A key also retires when another one begins, and that is not stored here.
    package var retired: Instant?
    /// When it was revoked after a leak.
    package var revoked: Instant?

    package init(
        created: Instant, ready: Instant, begins: Instant? = nil, retired: Instant? = nil, revoked: Instant? = nil
    ) {
        self.created = created
        self.ready = ready
        self.begins = begins
        self.retired = retired
        self.revoked = revoked
    }

    /// The times of a key that is used at once.
    package static func active(from now: Instant) -> KeyTimes {
        KeyTimes(created: now, ready: now, begins: now)
    }

    /// Whether it signs or seals, or can do so later.
    package var isUsable: Bool { retired == nil && revoked == nil }
}

/// A key of a ring: one that signs, or one that seals.
package protocol RingKey: Sendable {
    /// The name of the key for operators.
    var name: String { get }
    var times: KeyTimes { get set }
}
