public import AssayKit

/// What came of the token of a request.
public enum AppCheckOutcome: Sendable, Hashable {
    case verified(VerifiedToken)
    /// Clients do not learn the reason.
    case refused(Reason)
    /// It cannot be said now: there are no keys, or it is not known whether the token was used before. The words are for
    /// an operator.
    case undecided(String)
}

/// Why the middleware refuses requests, beside what ``AppCheckVerifier`` refuses tokens for.
public enum AppCheckReasons {
    public static let repeated = Reason("token_repeated", "The request has several tokens.")
    public static let inURL = Reason("token_in_url", "The request has a token in its URL, where logs keep it.")
    public static let reused = Reason("token_reused", "The token was used before.")
}
