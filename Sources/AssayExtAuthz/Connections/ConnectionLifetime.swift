internal import NIOCore

/// The lifetime of a connection.
///
/// Unfinished calls do not prolong it, nor do frames outside calls, such as PING.
struct ConnectionLifetime {
    /// How long a connection without a call stays when the server ends: an answer that was sent last, or a call that has begun to
    /// arrive, may need it.
    static let partingTime = TimeAmount.seconds(1)

    private let openingTime: TimeAmount
    private let silence: TimeAmount
    private let idleTime: TimeAmount
    private let opened: NIODeadline
    private let oldest: NIODeadline
    private var lastRead: NIODeadline?
    private var lastCall: NIODeadline
    private var calls = 0
    private var quiesced: NIODeadline?

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
        var end = oldest
        if let quiesced, calls == 0 { end = min(end, max(quiesced, lastCall) + ConnectionLifetime.partingTime) }
        guard let lastRead else { return min(end, opened + openingTime) }
        end = min(end, lastRead + silence)
        return calls > 0 ? end : min(end, lastCall + idleTime)
    }

    mutating func read(at now: NIODeadline) {
        lastRead = now
    }

    /// The server ends.
    mutating func quiesce(at now: NIODeadline) {
        quiesced = quiesced ?? now
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
