internal import NIOCore

/// The lifetime of a connection.
///
/// Unfinished calls do not prolong it, nor do frames outside calls, such as PING.
struct ConnectionLifetime {
    private let openingTime: TimeAmount
    private let silence: TimeAmount
    private let idleTime: TimeAmount
    private let opened: NIODeadline
    private let oldest: NIODeadline
    private var lastRead: NIODeadline?
    private var lastCall: NIODeadline
    private var calls = 0

    init(_ limits: ExtAuthzLimits, opened: NIODeadline) {
        openingTime = TimeAmount(limits.openingTime)
        silence = TimeAmount(limits.pingTime * 3)
        // The transport asks the client to leave first.
        idleTime = TimeAmount(limits.idleTime + limits.leaveTime)
        oldest = opened + TimeAmount(limits.connectionAge + limits.drainTime + limits.leaveTime)
        self.opened = opened
        lastCall = opened
    }

    /// When the connection must end, if nothing happens until then.
    var end: NIODeadline {
        guard let lastRead else { return min(opened + openingTime, oldest) }
        let end = min(lastRead + silence, oldest)
        return calls > 0 ? end : min(end, lastCall + idleTime)
    }

    mutating func read(at now: NIODeadline) {
        lastRead = now
    }

    /// A complete call has arrived.
    mutating func callBegan() {
        calls += 1
    }

    mutating func callEnded(at now: NIODeadline) {
        calls -= 1
        lastCall = now
    }
}
