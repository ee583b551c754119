public import AssayCore

/// The tokens that were signed last, up to a number.
///
/// All have the same lifetime: so the one that was signed first expires first, and makes room.
struct SignedTokens: Sendable {
    /// Everything that is in a token but its times.
    ///
    /// Two that differ in anything never share one.
    struct Key: Sendable, Hashable {
        private let role: FleetEngineRole
        @Exact private var account: String
        @Exact private var audience: String
        private let claims: [UInt8]

        /// Nil where the claims are so long that the tokens are not kept: those of batches, which are used once.
        init?(_ claims: FleetEngineClaims, by account: String, for audience: String) {
            guard claims.json.count <= 1024 else { return nil }
            role = claims.role
            self.account = account
            self.audience = audience
            self.claims = claims.json
        }
    }

    static let limit = 4096

    private var places: [Key: Int] = [:]
    private var kept: [(key: Key, token: FleetEngineToken)] = []
    /// The next place to use, when all are used: the oldest one.
    private var next = 0

    var count: Int { places.count }

    /// A token that may be issued again.
    func token(_ key: Key, at now: Instant) -> FleetEngineToken? {
        guard let place = places[key] else { return nil }
        let token = kept[place].token
        return token.isReusable(at: now) ? token : nil
    }

    /// Keeps a token, and returns the one to issue: an earlier one, if it exists.
    mutating func keep(_ token: FleetEngineToken, _ key: Key, at now: Instant) -> FleetEngineToken {
        if let first = self.token(key, at: now) { return first }
        if kept.count < Self.limit {
            places[key] = kept.count
            kept.append((key, token))
            return token
        }
        // An existing entry may have a newer one, which stays.
        if places[kept[next].key] == next { places[kept[next].key] = nil }
        kept[next] = (key, token)
        places[key] = next
        next = (next + 1) % Self.limit
        return token
    }
}

/// A token for Fleet Engine: `authorization: Bearer TOKEN`.
public struct FleetEngineToken: Sendable, Hashable {
    /// The JWT.
    @Exact public private(set) var text: String
    /// When it was made, in whole seconds; its `iat` is a minute earlier.
    public let created: Instant
    /// `exp`.
    public let expires: Instant

    init(_ text: String, created: Instant, expires: Instant) {
        self.text = text
        self.created = created
        self.expires = expires
    }

    /// Whether more than half of its lifetime remains.
    ///
    /// False when the clock was set back.
    func isReusable(at now: Instant) -> Bool {
        created <= now && (expires - now) * 2 > expires - created
    }
}
