public import AssayCore

/// What a server does whose vault does not answer: others may have replaced, retired or revoked keys meanwhile.
///
/// | since the last answer | what it does no more |
/// |---|---|
/// | a minute | refuse what an unknown sealing key has sealed: that is unavailable |
/// | ``KeyStore/publicationLimit`` | publish its key set, in which a new key may be missing; begin to sign by another key |
/// | ``KeyStore/decisionLimit`` | decide anything |
///
/// A key signs ``KeyStore/signingLead`` after it was made. By then every key set without it is out of date: it was
/// fetched at most ``KeyStore/publicationLimit`` later, and is kept for ``KeyStore/keySetLifetime``.
extension KeyStore {
    /// How long backends keep a key set: six hours, as Admin SDKs do.
    public static let keySetLifetime = Duration.seconds(6 * 3600)
    /// How long after the last answer of its vault a server publishes its key set and takes up keys that begin.
    public static let publicationLimit = Duration.seconds(3600)
    /// How long after the last answer of its vault a server decides.
    ///
    /// As long as a backend may keep a key set: a key that was revoked is accepted by no server for longer than by them.
    /// A retired key is published for a day longer than its tokens are valid, which is more.
    public static let decisionLimit = Duration.seconds(6 * 3600)
    /// How long after the last answer of its vault a server refuses what an unknown sealing key has sealed.
    static let refusalLimit = Duration.seconds(60)
}

/// When the keys of a snapshot were last known to be the present ones.
struct KeyFreshness: Sendable {
    /// How long ago; nil for keys in a folder or in memory, which are read when they have changed.
    let age: Duration?

    /// Whether the age is more than a limit.
    func isOver(_ limit: Duration) -> Bool { age.map { $0 > limit } ?? false }

    /// The time by which the key that signs is chosen: a server that hears nothing goes on with the one that signed at the
    /// limit, because the next one may have been revoked.
    func signingTime(_ now: Instant) -> Instant {
        guard let age, age > KeyStore.publicationLimit else { return now }
        return now - (age - KeyStore.publicationLimit)
    }

    /// Why nothing may be decided by these keys; nil when it may.
    var blockingReason: String? {
        guard let age, age > KeyStore.decisionLimit else { return nil }
        let minutes = age.wholeSeconds / 60
        return "the key vault has not answered for \(minutes) minutes: keys may have been replaced or revoked"
    }
}
