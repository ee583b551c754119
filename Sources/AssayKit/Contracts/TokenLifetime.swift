internal import AssayCore

/// The permitted lifetimes of tokens, in the ranges of Google's service.
public enum TokenLifetime {
    /// The lifetime of a session token: 30 minutes to 7 days.
    public static let range = Duration.seconds(1800)...Duration.seconds(7 * 86_400)

    /// The lifetime of a limited-use token; no policy changes it.
    public static let limitedUse = Duration.seconds(300)

    /// The lifetime of a session token for which a duration was asked: its whole seconds, since JWTs have no others.
    ///
    /// Admin SDKs ask for milliseconds (`1800.001000000s`). Nil when the duration is out of the range.
    public static func asked(_ duration: Duration) -> Duration? {
        range.contains(duration) ? .seconds(duration.wholeSeconds) : nil
    }

    /// Whether a session token may have this lifetime: within the range, and whole seconds, since JWTs have whole
    /// seconds.
    public static func isPossible(_ lifetime: Duration) -> Bool {
        range.contains(lifetime) && lifetime == .seconds(lifetime.wholeSeconds)
    }
}
