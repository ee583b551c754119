internal import AssayCore
internal import AssayPolicy
internal import Synchronization

/// Limits the calls for one app to the rate of its policy.
///
/// A token bucket, stored as one point in time: when it would be full again. Each peer has a share, an eighth of the
/// rate and of the burst, stored in the same way, so that no peer uses up the rate of all. A peer may take more than
/// its share while the burst lasts: alone, it gets the policy's whole rate. When others have emptied the bucket, a call
/// within its peer's share still passes, up to a quarter of the burst ahead of the rate, and up to half of it if the
/// peer was verified before. Peers beyond their share have to wait longer for that; the rate in the long run is that of
/// the policy.
///
/// One customer may have a whole /48 of IPv6. All unverified peers in it together get a quarter of what may be taken
/// ahead of the rate.
package final class TokenBucket: Sendable {
    let limit: RateLimit
    /// The cost of one call.
    private let step: Duration
    /// How far ahead of the clock calls may be taken.
    private let depth: Duration
    /// The cost of one call for a peer's share.
    private let ownStep: Duration
    private let ownDepth: Duration
    /// The cost of one call for what a /48 takes ahead of the rate.
    private let siteStep: Duration
    private let siteDepth: Duration
    private static let sites: ExactText = "sites"
    private let state = Mutex(State())

    /// How many peers' shares are remembered: those of the peers with the most recent calls.
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

    /// Takes the cost of one call.
    ///
    /// - Parameters:
    ///   - uptime: a clock that never goes backwards.
    ///   - isVerified: whether evidence of the peer was verified before.
    /// - Returns: nil when the call may pass; otherwise how long it would have to wait. Nothing is taken then.
    func take(at uptime: Duration, for peer: PeerGroup, isVerified: Bool) -> Duration? {
        state.withLock { state in
            // The bucket is full, so shares do not matter.
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
