internal import AssayCore
internal import Synchronization

/// The peers whose evidence was verified lately, for each app.
///
/// Where something bounded becomes scarce they go first.
///
/// Only verified evidence puts a peer in, so no stranger displaces one. A client with one genuine device displaces as little as
/// ``PeerTable`` says, however many addresses it has. It is a matter of precedence, never of trust: evidence is
/// judged alike from everywhere. Nothing of it is stored; after a restart all peers are strangers for one exchange.
final class VerifiedPeers: Sendable {
    /// Longer than sessions of most apps, and than most tokens live.
    static let memory = Duration.seconds(86_400)

    /// Until when, in milliseconds of the uptime, a peer is remembered.
    private let until: Mutex<PeerTable>

    /// - Parameter capacity: some 6 MB at 262,144, once so many peers came.
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
