/// What an App Check token that came in a message turned out to be.
public enum TokenFinding: Sendable {
    case good(VerifiedToken, AppIdentity)
    case refused(Reason)
}
