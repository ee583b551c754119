internal import AssayCore

/// How much evidence is captured: so that strangers cause a bounded amount of work, and none hides the evidence of others.
///
/// Half of the rate is for all apps alike, and one app gets at most a fifth of it. The other half has a small part for each
/// app, which no flood of another app can use up.
final class EvidenceRate: Sendable {
    private let peers: KeyedRate<FloodSource>
    private let shares: KeyedRate<ExactText>
    private let shared: KeyedRate<Int>
    private let reserves: KeyedRate<ExactText>
    private let reserved: KeyedRate<Int>

    /// - Parameter perSecond: the most records in a second, on average.
    init(perSecond: Int) {
        let half = max(1, min(perSecond, 100_000) / 2)
        func rate<Key>(_ perSecond: Int, capacity: Int, _: Key.Type = Key.self) -> KeyedRate<Key> {
            KeyedRate(every: .seconds(1) / max(1, perSecond), burst: 2 * max(1, perSecond), capacity: capacity)
        }
        peers = rate(half / 5, capacity: 8192)
        shares = rate(half / 5, capacity: 8192)
        shared = rate(half, capacity: 1)
        reserves = KeyedRate(every: .seconds(2), burst: 5, capacity: 8192)
        reserved = rate(half, capacity: 1)
    }

    /// Whether evidence of an app from a peer is captured.
    func admits(_ app: ExactText, peer: String?, at uptime: Duration) -> Bool {
        if let peer, peers.take(FloodSource(peer), at: uptime) != nil { return false }
        // Asked before it is taken from: an app that has used up its part takes nothing from that of all.
        if reserves.wait(app, at: uptime) == nil, reserved.take(0, at: uptime) == nil {
            return reserves.take(app, at: uptime) == nil
        }
        guard shares.wait(app, at: uptime) == nil, shared.take(0, at: uptime) == nil else { return false }
        return shares.take(app, at: uptime) == nil
    }
}
