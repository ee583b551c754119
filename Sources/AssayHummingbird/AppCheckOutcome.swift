public import AssayKit

/// What came of the token of a request.
public enum AppCheckOutcome: Sendable, Equatable {
    case verified(VerifiedToken)
    /// Clients do not learn the reason.
    case refused(Reason)
    /// It cannot be said now: there are no keys, or it is not known whether the token was used before. The words are for
    /// an operator.
    case undecided(String)

    public static func == (left: AppCheckOutcome, right: AppCheckOutcome) -> Bool {
        switch (left, right) {
        case (.verified(let left), .verified(let right)): left == right
        case (.refused(let left), .refused(let right)): left == right
        case (.undecided(let left), .undecided(let right)): left.isExactly(right)
        default: false
        }
    }
}
