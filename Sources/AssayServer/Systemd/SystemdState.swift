/// What systemd is told about a server, as the texts of sd_notify(3).
///
/// A pure state machine: events in, messages out. Nothing is said before every listener listens, and nothing after the
/// server began to end.
struct SystemdState {
    enum Event: Sendable {
        /// One more listener listens.
        case listening
        /// A reload on request begins, at this time of CLOCK_MONOTONIC in microseconds.
        case reloading(at: UInt64)
        /// It is over. When it was not applied, what was in force before still is.
        case reloaded(isApplied: Bool)
        /// The server finishes what has begun, and ends.
        case stopping
    }

    /// A sign of life, for `WatchdogSec=`.
    static let alive = "WATCHDOG=1"

    /// How many listeners do not listen yet.
    private var missing: Int
    private var isStopping = false

    init(listeners: Int) {
        missing = listeners
    }

    /// The message that an event leads to; nil for none.
    mutating func take(_ event: Event) -> String? {
        guard !isStopping else { return nil }
        if case .listening = event, missing > 0 {
            missing -= 1
            return missing == 0 ? "READY=1\nSTATUS=Serving" : nil
        }
        switch event {
        case .stopping:
            isStopping = true
            return "STOPPING=1\nSTATUS=Finishing requests"
        case .reloading(let time) where missing == 0:
            return "RELOADING=1\nMONOTONIC_USEC=\(time)\nSTATUS=Reloading"
        case .reloaded(let isApplied) where missing == 0:
            return isApplied
                ? "READY=1\nSTATUS=Serving" : "READY=1\nSTATUS=Serving; the requested reload failed, see the log"
        case .listening, .reloading, .reloaded:
            return nil
        }
    }
}
