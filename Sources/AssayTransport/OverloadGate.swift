internal import Synchronization

/// Refuses requests at once while a server has more of them than it can answer, so that those that it accepts do not wait.
///
/// A request arrives when it is complete, and begins when a thread takes it up. The time between is short while there is
/// a thread to spare. When even the shortest of these times within a tenth of a second is longer than the limit, the
/// server cannot keep up. From then on only so many requests may wait as begin within the limit, and requests that have
/// waited for longer than twice the limit are refused, too. This ends when none had to be refused for a tenth of a
/// second. So a burst is answered, and a queue that stays is not (compare CoDel, RFC 8289).
///
/// Several listeners may share one.
public final class OverloadGate: Sendable {
    /// A request that has arrived.
    ///
    /// It no longer waits when it begins, or when nothing refers to it any more.
    public final class Ticket: Sendable {
        private let gate: OverloadGate
        private let time: ContinuousClock.Instant
        private let isWaiting = Atomic(true)

        fileprivate init(_ gate: OverloadGate, _ time: ContinuousClock.Instant) {
            self.gate = gate
            self.time = time
        }

        deinit {
            if isWaiting.load(ordering: .relaxed) { gate.queue.withLock { $0.leave() } }
        }

        /// A thread has taken up the request.
        ///
        /// Returns false if it has waited for too long, so that it must be refused.
        ///
        /// Only the first call counts; later ones return true.
        public func begin() -> Bool {
            guard isWaiting.exchange(false, ordering: .relaxed) else { return true }
            let now = ContinuousClock.now
            return gate.count(gate.queue.withLock { $0.begin(arrived: time, at: now) })
        }
    }

    private let queue: Mutex<WaitingRequests>
    private let refusals = Atomic<Int>(0)

    /// - Parameters:
    ///   - limit: how long requests may wait for a thread while the server cannot keep up.
    ///   - threads: how many requests are worked on at once: the number of processors. Twice as many may always wait, so that no
    ///     thread is idle.
    public init(limit: Duration, threads: Int) {
        queue = Mutex(WaitingRequests(limit: limit, fewest: 2 * max(threads, 1)))
    }

    /// How many requests wait now.
    public var waiting: Int { queue.withLock { $0.count } }
    /// How many requests were refused.
    public var refused: Int { refusals.load(ordering: .relaxed) }

    /// A request is complete.
    ///
    /// Returns nil if it must be refused now.
    public func arrive() -> Ticket? {
        let now = ContinuousClock.now
        guard count(queue.withLock({ $0.arrive(at: now) })) else { return nil }
        return Ticket(self, now)
    }

    private func count(_ isAccepted: Bool) -> Bool {
        if !isAccepted { refusals.add(1, ordering: .relaxed) }
        return isAccepted
    }
}

/// The requests that wait for a thread, and how many may.
///
/// It makes decisions only; times are given to it.
struct WaitingRequests {
    typealias Time = ContinuousClock.Instant

    /// How long the shortest wait must be too long.
    ///
    /// A wait that ends within this time is a burst.
    static let period = Duration.milliseconds(100)

    private let limit: Duration
    private let fewest: Int
    /// Requests that have arrived and not begun.
    private(set) var count = 0
    /// The most that may wait; nil while the server keeps up.
    private(set) var most: Int?

    // What was seen since the present period began.
    private var start: Time?
    private var begun = 0
    private var refused = 0
    private var shortest: Duration?

    /// - Parameter fewest: so many may wait in any case.
    init(limit: Duration, fewest: Int) {
        self.limit = limit
        self.fewest = fewest
    }

    /// A request is complete.
    ///
    /// Returns whether it may wait.
    mutating func arrive(at now: Time) -> Bool {
        look(at: now)
        if let most, count >= most {
            refused += 1
            return false
        }
        count += 1
        return true
    }

    /// A request begins.
    ///
    /// Returns whether it is still to be answered.
    mutating func begin(arrived: Time, at now: Time) -> Bool {
        look(at: now)
        count -= 1
        let wait = now - arrived
        shortest = min(shortest ?? wait, wait)
        // Few requests that have waited for long mean that others use the processors.
        if most != nil, count >= fewest, wait > limit * 2 {
            refused += 1
            return false
        }
        begun += 1
        return true
    }

    /// A request does not begin any more.
    mutating func leave() {
        count -= 1
    }

    /// Ends the period if it is over, and decides how many may wait in the next one.
    private mutating func look(at now: Time) {
        guard let start else {
            self.start = now
            return
        }
        let passed = now - start
        guard passed >= Self.period else { return }
        if most != nil {
            // A server that was idle, or stopped, for long says nothing about its speed.
            if refused == 0 || passed > Self.period * 3 { most = nil } else { bound(passed) }
        } else if let shortest, shortest > limit, passed <= Self.period * 3 {
            bound(passed)
        }
        self.start = now
        begun = 0
        refused = 0
        shortest = nil
    }

    /// As many may wait as begin within the limit at the present speed.
    private mutating func bound(_ passed: Duration) {
        most = max(fewest, Int(Double(begun) * (limit / passed)))
    }
}
