internal import AssayKit

/// When a key was made, and from when it may do what.
struct KeyTimes: Sendable, Equatable {
    let created: Instant
    /// From when it may be activated: whoever has to know it before it is used has seen it by then.
    var ready: Instant
    /// From when it signs or seals, until another takes its place; nil while it waits to be activated.
    var begins: Instant?
    /// When it was taken out of use by word of somebody. That another began after it does so too, unwritten.
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
