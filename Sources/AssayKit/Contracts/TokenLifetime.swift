internal import AssayCore

/// The permitted lifetimes of tokens, in the ranges of Google's service.
public enum TokenLifetime {
    /// The lifetime of a session token: 30 minutes to 7 days.
    public static let range = Duration.seconds(1800)...Duration.seconds(7 * 86_400)

    /// The lifetime of a limited-use token; no policy changes it.
    public static let limitedUse = Duration.seconds(300)

    /// Whether a session token may have this lifetime: within the range, and whole seconds, since JWTs have whole
    /// seconds.
    public static func isPossible(_ lifetime: Duration) -> Bool {
        range.contains(lifetime) && lifetime == .seconds(lifetime.wholeSeconds)
    }
}
