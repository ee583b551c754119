internal import AssayCore
internal import Synchronization

/// What the vendor's refusals taught about tokens and peers, so that it is asked less about junk.
///
/// A token that it refused is refused again for ten minutes without a question. Each peer may send ten invalid tokens,
/// and another one every minute. Beyond that, the vendor is not asked about a stranger's tokens; a peer that was
/// verified before, one that is not on the Internet, or an unknown one may stand for many clients, and has the lowest
/// rank from then on.
final class InvalidTokenLimits: Sendable {
    /// The first 128 bits of a token's SHA-256.
    struct Mark: Hashable, Sendable {
        private let high: UInt64
        private let low: UInt64

        init(_ digest: [UInt8]) {
            let number = { (bytes: ArraySlice<UInt8>) in bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            high = number(digest.prefix(8))
            low = number(digest.dropFirst(8).prefix(8))
        }
    }

    private struct State {
        var recent: Set<Mark> = []
        var older: Set<Mark> = []
        var began = Duration.zero
        /// When, in milliseconds of the uptime, all of a peer's bad tokens are forgiven.
        var forgiven = PeerTable(capacity: InvalidTokenLimits.peers)
    }

    /// How long refused tokens are remembered at least, unless too many come.
    static let memory = Duration.seconds(600)
    static let tokens = 1024
    /// How many peers with bad tokens are remembered: those with the most.
    static let peers = 1024
    /// How many invalid tokens a peer may send at once, and the time after which it may send one more.
    static let allowance: Int64 = 10
    static let price: Int64 = 60_000

    private let state = Mutex(State())

    func wasRefused(_ token: Mark, at uptime: Duration) -> Bool {
        state.withLock { state in
            Self.age(&state, uptime)
            return state.recent.contains(token) || state.older.contains(token)
        }
    }

    /// How long a peer has to wait until it may bring another bad token; nil when it may now.
    func wait(_ peer: PeerGroup, at uptime: Duration) -> Duration? {
        let debt = state.withLock { $0.forgiven.value(of: peer) ?? 0 } - Self.milliseconds(uptime)
        let excess = debt - (Self.allowance - 1) * Self.price
        return excess > 0 ? .milliseconds(excess) : nil
    }

    /// The vendor called a token of a peer bad.
    func refused(_ token: Mark, of peer: PeerGroup, at uptime: Duration) {
        let now = Self.milliseconds(uptime)
        state.withLock { state in
            Self.age(&state, uptime)
            if state.recent.count >= Self.tokens { Self.turn(&state, uptime) }
            state.recent.insert(token)
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
