internal import AssayCore
internal import AssayPolicy
internal import Synchronization

/// Lets the calls for one app through at no more than the rate of its policy.
///
/// A token bucket kept as one point in time: when it would be full again. So that no peer uses it up for all, each has a share,
/// an eighth of the rate and of the burst, kept in the same way. A peer may take more than its share as long as the burst
/// lasts: alone, it gets what the policy says. A call within its peer's share passes when others have emptied the bucket, up to
/// a quarter of the burst ahead of the rate, and up to half of it when the peer was verified before. What was taken ahead is
/// missing to those beyond their share; the rate in the long run is that of the policy.
///
/// One customer may have a whole /48 of IPv6. All its peers that were not verified get a quarter of what is ahead
/// of the rate, together.
final class TokenBucket: Sendable {
    let limit: RateLimit
    /// What one call costs.
    private let step: Duration
    /// How far ahead of the clock the bucket may be owed.
    private let depth: Duration
    /// The same for a peer's share.
    private let ownStep: Duration
    private let ownDepth: Duration
    /// The same for what a /48 takes ahead of the rate.
    private let siteStep: Duration
    private let siteDepth: Duration
    private static let sites: ExactText = "sites"
    private let state = Mutex(State())

    /// How many peers' shares are remembered; those with the most calls lately.
    private static let peers = 256

    private struct State {
        var fullAt = Duration.zero
        /// When each peer's share would be full again, in microseconds of the uptime.
        var shares = PeerTable(capacity: TokenBucket.peers)
    }

    init(_ limit: RateLimit) {
        self.limit = limit
        step = limit.interval / limit.requests
        depth = step * limit.burst
        ownStep = step * 8
        ownDepth = ownStep * max(limit.burst / 8, 1)
        siteStep = step * 8
        siteDepth = siteStep * max(limit.burst / 16, 1)
    }

    /// Takes what one call costs.
    ///
    /// - Parameters:
    ///   - uptime: a clock that never goes back.
    ///   - isVerified: whether evidence of the peer was verified before.
    /// - Returns: nil when the call may pass; otherwise how long it would have to wait, and nothing is taken.
    func take(at uptime: Duration, for peer: PeerGroup, isVerified: Bool) -> Duration? {
        state.withLock { state in
            // The bucket is full, so that no share matters.
            if state.fullAt <= uptime, !state.shares.isEmpty { state.shares.removeAll() }
            let own = max(.microseconds(state.shares.value(of: peer) ?? 0), uptime) + ownStep
            let next = max(state.fullAt, uptime) + step
            var most = depth
            var site: (peer: PeerGroup, fullAt: Duration)?
            if own - uptime <= ownDepth {
                if !isVerified, next - uptime > depth, let peer = peer.site {
                    site = (
                        peer, max(.microseconds(state.shares.value(of: peer, in: Self.sites) ?? 0), uptime) + siteStep
                    )
                }
                if site.map({ $0.fullAt - uptime <= siteDepth }) ?? true {
                    most += step * (isVerified ? max(limit.burst / 2, 2) : max(limit.burst / 4, 1))
                }
            }
            guard next - uptime <= most else { return next - uptime - most }
            state.fullAt = next
            state.shares.set(min(own, uptime + ownDepth).wholeMicroseconds, of: peer)
            if let site {
                state.shares.set(site.fullAt.wholeMicroseconds, of: site.peer, in: Self.sites)
            }
            return nil
        }
    }
}

extension Duration {
    /// Rounded down, and bounded.
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000_000
    }
}
