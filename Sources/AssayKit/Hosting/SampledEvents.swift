package import AssayCore
internal import Synchronization

/// Decides which of many events are recorded one by one, and sums the others by their kind.
package final class SampledEvents<Kind: Hashable & Sendable>: Sendable {
    /// The group whose rate an event counts for.
    package enum Group: Sendable, Hashable {
        /// All events about unknown resources.
        case strangers
        /// One known app or caller, by its name.
        case known(ExactText)
    }

    /// The events that were not recorded one by one.
    package struct Sum: Sendable {
        package let since: Instant
        package let until: Instant
        /// The number of events of each kind.
        package let counts: [(kind: Kind, count: Int)]
        /// How many events were of further kinds.
        package let others: Int

        package var total: Int { counts.reduce(others) { $0 &+ $1.count } }
    }

    private struct State {
        var counts: [Kind: Int] = [:]
        var others = 0
        /// When the first event of the sum came, by both clocks.
        var began: (time: Instant, uptime: Duration)?
    }

    /// The most kinds in a sum.
    package static var kindLimit: Int { 64 }

    private let interval: Duration
    private let peers: KeyedRate<FloodSource>
    private let strangers: KeyedRate<Int>
    private let known: KeyedRate<ExactText>
    private let allKnown: KeyedRate<Int>
    private let state = Mutex(State())

    package init(_ limits: RecordLimits) {
        func rate<Key>(_ perSecond: Int, capacity: Int, _: Key.Type = Key.self) -> KeyedRate<Key> {
            let perSecond = min(max(perSecond, 1), 1_000_000)
            return KeyedRate(
                every: .seconds(1) / perSecond, burst: min(perSecond * RecordLimits.burstSeconds, 1_000_000),
                capacity: capacity)
        }
        interval = max(limits.interval, .seconds(1))
        peers = rate(limits.peerPerSecond, capacity: 8192)
        strangers = rate(limits.strangersPerSecond, capacity: 1)
        known = rate(limits.appPerSecond, capacity: 8192)
        allKnown = rate(min(max(limits.appPerSecond, 0), 1_000_000) * RecordLimits.appFactor, capacity: 1)
    }

    /// Whether an event is within the rates.
    ///
    /// Other events must be summed.
    ///
    /// - Parameter peer: nil for a call in this process, which only the rate of its group limits.
    package func admits(_ group: Group, peer: String?, at uptime: Duration) -> Bool {
        // The peer's own rate first, so that one peer cannot use up the rate of all.
        if let peer, peers.take(FloodSource(peer), at: uptime) != nil { return false }
        switch group {
        case .strangers: return strangers.take(0, at: uptime) == nil
        case .known(let name):
            return known.take(name, at: uptime) == nil && allKnown.take(0, at: uptime) == nil
        }
    }

    /// Adds an event to the sum.
    package func add(_ kind: Kind, now: Instant, uptime: Duration) {
        state.withLock { state in
            if state.began == nil { state.began = (now, uptime) }
            if state.counts[kind] != nil || state.counts.count < Self.kindLimit {
                state.counts[kind, default: 0] &+= 1
            } else {
                state.others &+= 1
            }
        }
    }

    /// Takes the sum when its interval is over, and starts the next one; nil before that, or when the sum is empty.
    ///
    /// - Parameter early: takes it in any case: at the end of a process.
    package func take(now: Instant, uptime: Duration, early: Bool = false) -> Sum? {
        state.withLock { state in
            guard let began = state.began, early || uptime - began.uptime >= interval else { return nil }
            defer { state = State() }
            return Sum(
                since: began.time, until: now,
                counts: state.counts.sorted { $0.value > $1.value }.map { ($0.key, $0.value) }, others: state.others)
        }
    }
}
