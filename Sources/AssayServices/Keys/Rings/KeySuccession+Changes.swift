internal import AssayCore
internal import AssayEngine

/// Which keys follow, and what makes them follow.
extension Array where Element: RingKey {
    /// The keys that will begin automatically.
    func pending(at now: Instant) -> [Int] {
        let present = inUse(at: now)
        return succession.filter { $0 != present && begins(self[$0]) > now }
    }

    /// The keys that wait to be activated.
    var waiting: [Int] {
        indices.filter { self[$0].times.isUsable && self[$0].times.begins == nil }
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
    mutating func adopt(_ index: Int, at now: Instant) {
        settle(at: now)
        if let present = inUse(at: now), present != index { self[present].times.retired = now }
        self[index].times.begins = now
    }
}
