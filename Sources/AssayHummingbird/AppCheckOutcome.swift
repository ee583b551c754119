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
