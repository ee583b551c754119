public import AssayCore

/// The outcome for the token of a request.
public enum AppCheckOutcome: Sendable, Equatable {
    /// The token is valid, and its app and provider are accepted.
    case verified(VerifiedToken)
    /// The token is missing or not accepted. Clients do not learn the reason.
    case refused(Reason)
    /// No decision is possible now: keys are missing, or it is unknown whether the token was used before. The text is
    /// for an operator.
    case undecided(String)

    /// Whether both are the same outcome, with texts compared by their bytes.
    public static func == (left: AppCheckOutcome, right: AppCheckOutcome) -> Bool {
        switch (left, right) {
        case (.verified(let left), .verified(let right)): left == right
        case (.refused(let left), .refused(let right)): left == right
        case (.undecided(let left), .undecided(let right)): left.isExactly(right)
        default: false
        }
    }
}
