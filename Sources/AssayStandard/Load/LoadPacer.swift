#if Simulator
internal import NIOCore

/// Decides when calls start; times are nanoseconds of any clock.
///
/// In an open loop, calls are due at times that are known from the beginning, however slowly the server answers. A call that no
/// connection was free for waits in a queue, and its latency counts from the time at which it was due: otherwise a server that
/// stalls would only be measured while it does not ("coordinated omission"). In a closed loop, a call is due when a former one
/// was answered.
struct LoadPacer {
    enum Pace: Sendable {
        /// An open loop with so many calls a second.
        case rate(Double)
        /// A closed loop with so many calls at once.
        case concurrency(Int)
    }

    /// A call.
    struct Arrival: Sendable, Equatable {
        let method: LoadMethod
        /// When it is to start.
        let due: UInt64
    }

    /// The most calls that wait; more are not remembered, and counted as never sent.
    static let queueLimit = 1_000_000

    private let pace: Pace
    private var mix: LoadMix
    private let start: UInt64
    private var arrived = 0
    private var waiting = CircularBuffer<Arrival>()
    private var isStopped = false
    /// The calls that were sent and have not ended.
    private(set) var inFlight = 0
    /// The calls that became due while too many waited.
    private(set) var overflow = 0

    init(_ pace: Pace, _ mix: LoadMix, start: UInt64) {
        self.pace = pace
        self.mix = mix
        self.start = start
    }

    /// When the next call is due; nil in a closed loop.
    var nextDue: UInt64? {
        guard case .rate(let rate) = pace, !isStopped else { return nil }
        return start + UInt64(Double(arrived) / rate * 1e9)
    }

    /// The calls that are due and wait for a connection.
    var backlog: Int { waiting.count }

    /// Whether a call could be sent now.
    var isReady: Bool {
        switch pace {
        case .rate: !waiting.isEmpty
        case .concurrency(let most): !isStopped && inFlight < most
        }
    }

    /// Takes in the calls that are due.
    mutating func advance(to now: UInt64) {
        while let due = nextDue, due <= now {
            arrived += 1
            let method = mix.next()
            if waiting.count < Self.queueLimit {
                waiting.append(Arrival(method: method, due: due))
            } else {
                overflow += 1
            }
        }
    }

    /// The next call to send, as soon as there is a connection for it.
    mutating func next(at now: UInt64) -> Arrival? {
        guard isReady else { return nil }
        inFlight += 1
        if case .rate = pace { return waiting.popFirst() }
        return Arrival(method: mix.next(), due: now)
    }

    /// A call has ended.
    mutating func ended() {
        inFlight -= 1
    }

    /// No more calls become due; returns those that still wait.
    mutating func stop() -> [Arrival] {
        isStopped = true
        defer { waiting.removeAll() }
        return Array(waiting)
    }
}
#endif
