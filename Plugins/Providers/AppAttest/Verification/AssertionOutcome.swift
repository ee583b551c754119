/// What came of verifying an assertion.
public enum AssertionOutcome: Sendable, Hashable {
    /// The assertion is genuine and agrees with what was expected.
    case verified(VerifiedAssertion)
    /// The assertion is not good.
    case refused(AppAttestRefusal)
}
