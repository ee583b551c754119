internal import Synchronization

/// The time of day for what cannot be undone, such as removing what has expired: it follows a jump of the clock forward
/// only after ``patience``, counted by the uptime, and a jump back at once.
///
/// What is removed while a clock is ahead would be missing when the clock is right again: an entry that says that a token
/// was used, for example. A jump that is corrected within ``patience`` therefore has no effect.
public final class SettledTime: Sendable {
    private struct State {
        /// The time of day minus the uptime, in milliseconds, that has lasted long enough; nil for none yet.
        var offset: Int64?
        /// A larger one, the least that was read since a time.
        var ahead: (offset: Int64, since: Duration)?
    }

    /// How long a clock must be ahead until it is believed.
    public static let patience = Duration.seconds(600)

    private let clock: HostClock
    private let state: Mutex<State>

    /// Reads the clock for the first time.
    ///
    /// - Parameter isTrusted: whether the clock is believed now. If not, ``now`` is the beginning of all time until the
    ///   clock has run for ``patience``: after a machine has started, its clock may not be set yet.
    public init(_ clock: HostClock, isTrusted: Bool = true) {
        self.clock = clock
        let uptime = clock.uptime
        let offset = Self.offset(clock.now, uptime)
        state = Mutex(State(offset: isTrusted ? offset : nil, ahead: isTrusted ? nil : (offset, uptime)))
    }

    /// The settled time, which is never later than that of the clock.
    public var now: Instant {
        let (now, uptime) = (clock.now, clock.uptime)
        guard let offset = settle(now, uptime) else { return Instant(milliseconds: .min) }
        return Instant(milliseconds: offset) + .milliseconds(uptime.wholeMilliseconds)
    }

    /// By how much the clock is ahead of the settled time.
    public var lead: Duration {
        let (now, uptime) = (clock.now, clock.uptime)
        guard let offset = settle(now, uptime) else { return .zero }
        return .milliseconds(Self.offset(now, uptime) &- offset)
    }

    /// The offset that has lasted long enough, after a reading of the clock.
    private func settle(_ now: Instant, _ uptime: Duration) -> Int64? {
        let read = Self.offset(now, uptime)
        return state.withLock { state in
            if let offset = state.offset, read <= offset {
                state = State(offset: read)
                return read
            }
            guard let ahead = state.ahead else {
                state.ahead = (read, uptime)
                return state.offset
            }
            let least = min(ahead.offset, read)
            if uptime - ahead.since >= Self.patience {
                // What is larger than the least has not lasted as long.
                state = State(offset: least, ahead: read > least ? (read, uptime) : nil)
            } else {
                state.ahead = (least, ahead.since)
            }
            return state.offset
        }
    }

    private static func offset(_ now: Instant, _ uptime: Duration) -> Int64 {
        now.milliseconds &- uptime.wholeMilliseconds
    }
}
