internal import AssayCore

/// What a server does whose vault does not answer: others may have replaced, retired or revoked keys meanwhile.
///
/// | since the last answer | what it does no more |
/// |---|---|
/// | a minute | refuse what an unknown key has sealed or signed: that is unavailable |
/// | ``KeyAging/publicationLimit`` | let its key set be kept, in which a new key may be missing; begin to sign by another key |
/// | ``KeyAging/signingLimit`` | sign tokens |
///
/// It serves its key set and verifies tokens by the keys that it knows for as long as the process lives.
///
/// **New keys.** A key signs `KeyStore.signingLead` after it was made. By then every key set without it that may be kept
/// is out of date: servers and caches hand it out for at most ``KeyAging/publicationLimit``, and backends keep it for
/// ``KeyAging/backendCacheTime``. What a server serves after that says that it may be kept for a minute, and `/readyz`
/// says `degraded`, so that load balancers can prefer other servers. A backend that keeps every key set for six hours, as
/// Admin SDKs do, and got it from a server that was cut off for more than an hour, may refuse tokens of a key that is
/// newer than that. To serve nothing instead would be worse: a store that is away for all servers, which is far more
/// frequent than one server alone, would stop every backend that starts or whose key set ends, although nobody can
/// change keys meanwhile and the key set is right.
///
/// **Revoked keys.** A server that is cut off cannot know that a key was revoked: it publishes and accepts the key until it
/// hears of its vault again or is stopped. It does so because it cannot tell that case from a store that is away for
/// all. An operator who revokes a key looks at `/readyz` of each server, and stops those that are degraded.
///
/// **Signing.** A server that hears nothing signs by the key that it signed by, which the others publish for
/// `KeyRing.publication` after its retirement: longer than ``KeyAging/signingLimit`` and the life of its last token.
package enum KeyAging {
    /// How long backends keep a key set: six hours, as Admin SDKs do.
    package static let backendCacheTime = Duration.seconds(6 * 3600)
    /// How long after the last answer of its vault a server and the caches after it hand out its key set as a present one,
    /// and a server loads keys that begin.
    package static let publicationLimit = Duration.seconds(3600)
    /// How long after the last answer of its vault a server signs tokens.
    ///
    /// As long as a backend may keep a key set: by a key that was revoked no server signs for longer than backends accept
    /// it. A retired key is published for a day longer than its tokens are valid, which is more.
    package static let signingLimit = Duration.seconds(6 * 3600)
    /// How long after the last answer of its vault a server refuses what an unknown key has sealed or signed.
    static let refusalLimit = Duration.seconds(60)
}

/// When the keys of a snapshot were last known to be the present ones.
package struct KeyFreshness: Sendable {
    /// How long ago; nil for keys in a folder or in memory, which are read when they have changed.
    let age: Duration?

    /// How long a key set may be kept that may be out of date: one that hears of a newer one soon.
    private static let leastLifetime = Duration.seconds(60)

    /// Whether the age is more than a limit.
    func isOver(_ limit: Duration) -> Bool { age.map { $0 > limit } ?? false }

    /// The time by which the key that signs is chosen: a server that hears nothing continues with the one that signed at the
    /// limit, because the next one may have been revoked.
    func signingTime(_ now: Instant) -> Instant {
        guard let age, age > KeyAging.publicationLimit else { return now }
        return now - (age - KeyAging.publicationLimit)
    }

    /// How long caches may keep the key set: with the age, an hour; a minute at least.
    var cacheLifetime: Duration {
        // A vault that answers is asked every few seconds: the value is then always the same.
        guard let age, age > KeyAging.refusalLimit else { return KeyAging.publicationLimit }
        return max(KeyAging.publicationLimit - age, Self.leastLifetime)
    }

    /// How far the knowledge of the keys has aged.
    package enum Stage: Int, Sendable {
        case present
        /// The key set may lack a key, and have one that was revoked.
        case outdated
        /// No token is signed.
        case silent
    }

    package var stage: Stage {
        if isOver(KeyAging.signingLimit) { return .silent }
        return isOver(KeyAging.publicationLimit) ? .outdated : .present
    }

    /// What operators should know, by the stage; nil for present keys.
    package var caution: String? {
        let minutes = (age ?? .zero).wholeSeconds / 60
        let silence = "the key vault has not answered for \(minutes) minutes: keys may have been replaced or revoked"
        return switch stage {
        case .present: nil
        case .outdated: "\(silence); the key set is served as it was"
        case .silent: "\(silence); the key set is served as it was, and no tokens are issued"
        }
    }
}
