internal import AssayKit

/// Bounds how many unknown debug tokens are looked up in the state store.
///
/// An address (IPv6: a /64) may show a few, and then one every 10 seconds. When too many come for an app from all addresses
/// together, each address has one. So an address that showed no unknown token is never locked out by those who did.
final class GuessLimit: Sendable {
    private static let burst = 10
    private static let interval = Duration.seconds(10)
    private static let appBurst = 100
    private static let appInterval = Duration.milliseconds(500)

    private let peers = KeyedRate<FloodSource>(every: interval, burst: burst, capacity: 4096)
    private let app = KeyedRate<Int>(every: appInterval, burst: appBurst, capacity: 1)

    /// How long a peer has to wait before it may show a token that is not known yet; nil when it need not wait.
    ///
    /// - Parameter peer: nil for a call in this process, which is not limited.
    func wait(_ peer: String?, at uptime: Duration) -> Duration? {
        guard let source = peer.map({ FloodSource($0) }) else { return nil }
        if let wait = peers.wait(source, at: uptime) { return wait }
        guard let wait = app.wait(0, at: uptime), peers.isOwing(source, at: uptime) else { return nil }
        return max(wait, .seconds(1))
    }

    /// Counts an unknown token.
    func count(_ peer: String?, at uptime: Duration) {
        guard let source = peer.map({ FloodSource($0) }) else { return }
        _ = peers.take(source, at: uptime)
        _ = app.take(0, at: uptime)
    }
}
