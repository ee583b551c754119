public import AssayCore
internal import Synchronization

/// Refuses requests at once while a server has more of them than it can answer, so that those that it accepts do not wait.
///
/// A request arrives when it is complete, and begins when a thread takes it up. When the mean of the time between is longer
/// than the limit in two tenths of a second in a row, the server cannot keep up. From then on only so many requests may
/// wait as begin within an allowed time, and requests that have waited for longer than twice that time are refused, too. The
/// allowed time is the limit at first; while more than a fourth of the requests are refused it is shortened, to a
/// millisecond at the least, because a longer queue would answer no more of them; while fewer are, it grows to the limit again.
/// This ends when none had to be refused for a tenth of a second. So a burst is answered, and a queue that stays is not
/// (compare CoDel, RFC 8289; its least wait says nothing here, because threads do not begin with requests in their order).
///
/// Who has had most requests accepted lately is refused first: a request for which there is no place takes that of a waiting
/// one whose peer had more, or, of the same peer, whose connection had more. So a client with few requests is answered
/// beside a flood, however many connections that has.
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
        private let place: WaitingRequests.Place
        private let isWaiting = Atomic(true)

        fileprivate init(_ gate: OverloadGate, _ time: ContinuousClock.Instant, _ place: WaitingRequests.Place) {
            self.gate = gate
            self.time = time
            self.place = place
        }

        deinit {
            if isWaiting.load(ordering: .relaxed) { gate.queue.withLock { $0.leave(place) } }
        }

        /// A thread has begun with the request.
        ///
        /// Returns false if it has waited for too long, or gave its place to another, so that it must be refused. Only the first call counts; later ones
        /// return true.
        public func begin() -> Bool {
            guard isWaiting.exchange(false, ordering: .relaxed) else { return true }
            let now = ContinuousClock.now
            let isAccepted = gate.queue.withLock { $0.begin(place, arrived: time, at: now) }
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
    ///
    /// - Parameter source: who sent it.
    public func arrive(from source: RequestSource) -> Admission {
        let now = ContinuousClock.now
        switch queue.withLock({ $0.arrive(at: now, from: source) }) {
        case .waits(let place):
            return .waits(Ticket(self, now, place))
        case .refused(let delay):
            refusals.add(1, ordering: .relaxed)
            return .refused(after: delay)
        }
    }
}

/// Who sent a request, for a fair choice of those that are refused.
public struct RequestSource: Sendable, Hashable {
    let peer: PeerGroup
    let connection: ObjectIdentifier

    /// - `peer`: the client's address, also behind a trusted proxy.
    /// - `connection`: the object of the connection, which distinguishes clients with one address.
    public init(peer: PeerGroup, connection: ObjectIdentifier) {
        self.peer = peer
        self.connection = connection
    }
}
