internal import Synchronization

/// Refuses requests at once while a server has more of them than it can answer, so that those that it accepts do not wait.
///
/// A request arrives when it is complete, and begins when a thread takes it up. When the mean of the time between is longer
/// than the limit in two tenths of a second in a row, the server cannot keep up. From then on only so many requests may
/// wait as begin within an allowed time, and requests that have waited for longer than twice that time are refused, too. The
/// allowed time is the limit at first; while more than a fourth of the requests are refused it is shortened, to a
/// millisecond at the least, because a longer queue would answer no more of them; while fewer are, it grows to the limit again.
/// This ends when none had to be refused for a tenth of a second. So a burst is answered, and a queue that stays is not
/// (compare CoDel, RFC 8289; its least wait says nothing here, because threads do not take up requests in their order).
///
/// A refusal costs work as well. There are at most twice as many a second as answers; beyond, refusals are delayed by up to a second,
/// in which their connections send no more.
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
        /// Returns false if it has waited for too long, so that it must be refused. Only the first call counts; later ones
        /// return true.
        public func begin() -> Bool {
            guard isWaiting.exchange(false, ordering: .relaxed) else { return true }
            let now = ContinuousClock.now
            let isAccepted = gate.queue.withLock { $0.begin(arrived: time, at: now) }
            if !isAccepted { gate.refusals.add(1, ordering: .relaxed) }
            return isAccepted
        }
    }

    /// What becomes of a request that has arrived.
    public enum Admission: Sendable {
        /// It waits for a thread.
        case waits(Ticket)
        /// It is refused after this time, which is mostly zero.
        case refused(after: Duration)
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
    public func arrive() -> Admission {
        let now = ContinuousClock.now
        guard let delay = queue.withLock({ $0.arrive(at: now) }) else { return .waits(Ticket(self, now)) }
        refusals.add(1, ordering: .relaxed)
        return .refused(after: delay)
    }
}

/// The requests that wait for a thread, and how many may.
///
/// It makes decisions only; times are given to it.
struct WaitingRequests {
    typealias Time = ContinuousClock.Instant

    /// How long waits are observed before the next decision.
    static let period = Duration.milliseconds(100)
    /// The longest delay of a refusal.
    static let longestDelay = Duration.seconds(1)
    /// The shortest time that requests may wait for: as long as an event loop runs tasks before it looks at its connections.
    static let shortestWait = Duration.milliseconds(1)

    private let limit: Duration
    private let fewest: Int
    /// Requests that have arrived and not begun.
    private(set) var count = 0
    /// The most that may wait; nil while the server keeps up.
    private(set) var most: Int?
    /// How long requests may wait while the server cannot keep up.
    private(set) var allowedWait: Duration
    /// Whether the waits of the last period were too long.
    private var isSlow = false
    /// The time between two refusals, and the earliest time of the next one.
    private var pause = Duration.zero
    private var nextRefusal: Time?

    // What was seen since the present period began.
    private var start: Time?
    private var begun = 0
    private var refused = 0
    private var waits = Duration.zero

    /// - Parameter fewest: so many may wait in any case.
    init(limit: Duration, fewest: Int) {
        self.limit = limit
        self.fewest = fewest
        allowedWait = limit
    }

    /// A request is complete.
    ///
    /// Returns nil if it may wait, or after which time it is refused.
    mutating func arrive(at now: Time) -> Duration? {
        look(at: now)
        guard let most, count >= most else {
            count += 1
            return nil
        }
        refused += 1
        let time = max(nextRefusal ?? now, now)
        nextRefusal = min(time, now + Self.longestDelay) + pause
        return min(time - now, Self.longestDelay)
    }

    /// A request begins.
    ///
    /// Returns whether it is still to be answered.
    mutating func begin(arrived: Time, at now: Time) -> Bool {
        look(at: now)
        count -= 1
        let wait = now - arrived
        begun += 1
        waits += wait
        // Few requests that have waited for long mean that others use the processors.
        guard most != nil, count >= fewest, wait > allowedWait * 2 else { return true }
        refused += 1
        return false
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
        // A server that was idle, or stopped, for long says nothing about its speed.
        let isCurrent = passed <= Self.period * 3
        let wasSlow = isSlow
        isSlow = isCurrent && begun > 0 && waits / begun > limit
        if most != nil ? isCurrent && refused > 0 : wasSlow && isSlow {
            if most != nil {
                // A server that could almost keep up has as much use of a queue as it may have; with few places it would refuse
                // requests also when it can keep up again.
                let isFarBehind = refused > begun / 3
                allowedWait =
                    isFarBehind ? max(min(Self.shortestWait, limit), allowedWait / 4) : min(limit, allowedWait * 2)
            }
            // As many as begin within the allowed time at the present speed.
            most = max(fewest, Int(Double(begun) * (allowedWait / passed)))
            pause = passed / (2 * max(begun, 10))
        } else {
            most = nil
            nextRefusal = nil
            allowedWait = limit
        }
        self.start = now
        begun = 0
        refused = 0
        waits = .zero
    }
}
