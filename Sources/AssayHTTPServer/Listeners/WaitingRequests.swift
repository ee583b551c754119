/// The requests that wait for a thread, and how many may.
///
/// It makes decisions only; times are given to it.
struct WaitingRequests {
    typealias Time = ContinuousClock.Instant

    /// The place of a waiting request; it can lose it to another one.
    struct Place: Sendable {
        fileprivate let number: FairShares.Number
    }

    enum Arrival {
        case waits(Place)
        /// It is refused after this time.
        case refused(after: Duration)
    }

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
    /// Who had requests accepted lately.
    private var shares = FairShares()

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
    mutating func arrive(at now: Time, from source: RequestSource) -> Arrival {
        look(at: now)
        if let most, count >= most {
            refused += 1
            // One of two is refused, this request or the one that gives its place to it.
            let time = max(nextRefusal ?? now, now)
            nextRefusal = min(time, now + Self.longestDelay) + pause
            guard shares.displace(for: source) else { return .refused(after: min(time - now, Self.longestDelay)) }
            count -= 1
        }
        count += 1
        return .waits(Place(number: shares.accept(source)))
    }

    /// A request begins.
    ///
    /// Returns whether it is still to be answered.
    mutating func begin(_ place: Place, arrived: Time, at now: Time) -> Bool {
        look(at: now)
        guard let source = shares.leave(place.number) else { return false }
        count -= 1
        let wait = now - arrived
        begun += 1
        waits += wait
        // Few requests that have waited for long mean that others use the processors.
        guard most != nil, count >= fewest, wait > allowedWait * 2 else { return true }
        refused += 1
        guard shares.displace(for: source, whichIsAccepted: true) else { return false }
        count -= 1
        return true
    }

    /// A request does not begin any more.
    mutating func leave(_ place: Place) {
        if shares.leave(place.number) != nil { count -= 1 }
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
        shares.age(by: passed / Self.period)
        self.start = now
        begun = 0
        refused = 0
        waits = .zero
    }
}
