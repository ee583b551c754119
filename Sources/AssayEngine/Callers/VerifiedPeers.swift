internal import AssayCore
internal import Synchronization

/// The peers whose evidence was verified recently, for each app.
///
/// They take precedence when something bounded becomes scarce.
///
/// Only verified evidence adds a peer, so strangers displace none. A client with one genuine device displaces only as
/// many as `PeerTable` allows, however many addresses it has. It decides about precedence, never about trust:
/// evidence is judged in the same way from everywhere. Nothing is stored; after a restart all peers are strangers until
/// their next exchange.
final class VerifiedPeers: Sendable {
    /// Longer than most sessions of apps, and longer than most token lifetimes.
    static let memory = Duration.seconds(86_400)

    /// The time until which each peer is remembered, in milliseconds of the uptime.
    private let until: Mutex<PeerTable>

    /// - Parameter capacity: about 6 MB at 262,144, when it is full.
    init(capacity: Int = 262_144) {
        until = Mutex(PeerTable(capacity: capacity))
    }

    func remember(_ peer: PeerGroup, of app: ExactText, at uptime: Duration) {
        let end = (uptime + Self.memory).wholeMilliseconds
        until.withLock { $0.set(end, of: peer, in: app) }
    }

    func contains(_ peer: PeerGroup, of app: ExactText, at uptime: Duration) -> Bool {
        guard let end = until.withLock({ $0.value(of: peer, in: app) }) else { return false }
        return uptime.wholeMilliseconds < end
    }
}

extension Duration {
    /// Rounded down, and bounded.
    fileprivate var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? (seconds < 0 ? .min : .max) : product &+ attoseconds / 1_000_000_000_000_000
    }
}
