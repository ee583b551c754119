internal import AssayCore
internal import Synchronization

/// What refusals of a server taught about evidence and peers, so that it is asked less about what nobody vouches for.
///
/// Evidence that it refused is refused again for ten minutes without a question. Each peer may send ten pieces that cost a question and get
/// no token, and another one every minute. Beyond that, the server is not asked about a stranger's evidence; a peer that was
/// verified before, one that is not on the Internet, or an unknown one may stand for many clients, and has the lowest
/// rank from then on.
final class RefusedEvidence: Sendable {
    private struct State {
        var recent: Set<ExactText> = []
        var older: Set<ExactText> = []
        var began = Duration.zero
        /// When, in milliseconds of the uptime, all that a peer sent is forgiven.
        var forgiven = PeerTable(capacity: RefusedEvidence.peers)
    }

    /// How long refused evidence is remembered at least, unless too much comes.
    static let memory = Duration.seconds(600)
    static let pieces = 1024
    /// How many peers with refused evidence are remembered: those with the most.
    static let peers = 1024
    /// How much refused evidence a peer may send at once, and the time after which it may send one more piece.
    static let allowance: Int64 = 10
    static let price: Int64 = 60_000

    private let state = Mutex(State())

    /// - Parameter evidence: what tells it from other evidence: its digest.
    func contains(_ evidence: ExactText, at uptime: Duration) -> Bool {
        state.withLock { state in
            Self.age(&state, uptime)
            return state.recent.contains(evidence) || state.older.contains(evidence)
        }
    }

    /// How long a peer has to wait until it may bring another refused piece; nil when it may now.
    func wait(_ peer: PeerGroup, at uptime: Duration) -> Duration? {
        let debt = state.withLock { $0.forgiven.value(of: peer) ?? 0 } - Self.milliseconds(uptime)
        let excess = debt - (Self.allowance - 1) * Self.price
        return excess > 0 ? .milliseconds(excess) : nil
    }

    /// The server refused a peer's evidence.
    func insert(_ evidence: ExactText, of peer: PeerGroup, at uptime: Duration) {
        state.withLock { state in
            Self.age(&state, uptime)
            if state.recent.count >= Self.pieces { Self.turn(&state, uptime) }
            state.recent.insert(evidence)
        }
        charge(peer, at: uptime)
    }

    /// A peer's evidence cost a question, and got no token.
    func charge(_ peer: PeerGroup, at uptime: Duration) {
        let now = Self.milliseconds(uptime)
        state.withLock { state in
            // Answers to concurrent questions count for no longer than twice the allowance.
            let debt = max((state.forgiven.value(of: peer) ?? 0) - now, 0) + Self.price
            state.forgiven.set(now + min(debt, 2 * Self.allowance * Self.price), of: peer)
        }
    }

    private static func age(_ state: inout State, _ uptime: Duration) {
        guard uptime - state.began > memory else { return }
        if uptime - state.began > memory * 2 { state.recent = [] }
        turn(&state, uptime)
    }

    private static func turn(_ state: inout State, _ uptime: Duration) {
        state.older = state.recent
        state.recent = []
        state.began = uptime
    }

    private static func milliseconds(_ uptime: Duration) -> Int64 {
        let (seconds, attoseconds) = uptime.components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        return overflow ? .max / 2 : product + attoseconds / 1_000_000_000_000_000
    }
}
