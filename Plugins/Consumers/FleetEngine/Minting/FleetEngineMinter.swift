public import AssayCore
public import AssayCrypto
internal import Synchronization

/// Makes tokens for Fleet Engine, and issues one again while more than half of its lifetime remains.
///
/// A token is signed with RS256 and names its key. Its `aud` is one text, its `exp` at most an hour after now and after
/// `iat`, and its `iat` a minute back, so that a clock that is a little ahead of Google's does no harm (Google, Fleet
/// Engine, "JSON Web Tokens").
public final class FleetEngineMinter: Sendable {
    /// The recipient of the tokens: Google's service.
    public static let standardAudience = "https://fleetengine.googleapis.com/"
    /// How long tokens may live.
    ///
    /// Half of the least is five minutes: what the clients of Google's SDKs need at least.
    public static let lives: ClosedRange<Duration> = .seconds(600)...Duration.seconds(3600)

    /// How far `iat` is in the past, in seconds.
    static let backdating: Int64 = 60
    private static let longestLifetime: Int64 = 3600

    /// The claim `aud` of the tokens.
    public let audience: String
    private let lifetime: Int64
    /// The JSON text `,"aud":…,"iat":`, which is the same in all tokens.
    private let audienceClaim: [UInt8]
    private let signed = Mutex(SignedTokens())

    /// Makes a minter for an audience.
    ///
    /// - `lifetime`: of each token, within ``lives``.
    public init(audience: String = standardAudience, lifetime: Duration = .seconds(3600)) {
        self.audience = audience
        self.lifetime = min(max(lifetime, Self.lives.lowerBound), Self.lives.upperBound).wholeSeconds
        audienceClaim = Array(#","aud":"#.utf8) + JSON.string(audience).encoded + Array(#","iat":"#.utf8)
    }

    /// A token with more than half of its lifetime left.
    public func token(
        _ claims: FleetEngineClaims, by account: FleetEngineAccount, at now: Instant
    ) throws(CryptoError) -> FleetEngineToken {
        try mint(claims, by: account, at: now).token
    }

    /// The same, and whether it was signed before.
    func mint(
        _ claims: FleetEngineClaims, by account: FleetEngineAccount, at now: Instant
    ) throws(CryptoError) -> (token: FleetEngineToken, isReused: Bool) {
        let key = SignedTokens.Key(claims, by: account.identity, for: audience)
        if let key, let token = signed.withLock({ $0.token(key, at: now) }) { return (token, true) }
        // Signing is slow and is done outside the lock; when two calls sign the same claims, both return the first
        // token.
        let token = try sign(claims, by: account, at: now)
        guard let key else { return (token, false) }
        return (signed.withLock { $0.keep(token, key, at: now) }, false)
    }

    private func sign(
        _ claims: FleetEngineClaims, by account: FleetEngineAccount, at now: Instant
    ) throws(CryptoError) -> FleetEngineToken {
        let created = now.seconds
        let issued = created - Self.backdating
        let expires = min(created + lifetime, issued + Self.longestLifetime)
        var payload: [UInt8] = []
        payload.reserveCapacity(account.principal.count + audienceClaim.count + claims.json.count + 64)
        payload += account.principal
        payload += audienceClaim
        payload += String(issued).utf8
        payload += #","exp":"#.utf8
        payload += String(expires).utf8
        payload += #","authorization":"#.utf8
        payload += claims.json
        payload.append(UInt8(ascii: "}"))
        return FleetEngineToken(
            try account.signer.sign(payload: payload), created: Instant(seconds: created),
            expires: Instant(seconds: expires))
    }
}
