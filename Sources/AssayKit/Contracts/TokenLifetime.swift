/// How long tokens live, in the ranges of Google's service.
public enum TokenLifetime {
    /// A session token's life: 30 minutes to 7 days.
    public static let range = Duration.seconds(1800)...Duration.seconds(7 * 86_400)

    /// The life of a limited-use token, whatever a policy says of others.
    public static let limitedUse = Duration.seconds(300)

    /// Whether a session token can live so long: within the range, and in whole seconds, which is what JWTs have.
    public static func isPossible(_ lifetime: Duration) -> Bool {
        range.contains(lifetime) && lifetime == .seconds(lifetime.wholeSeconds)
    }
}
