public import AssayCore

/// The result of the verification of an App Check token that came in a message.
public enum TokenFinding: Sendable {
    case good(VerifiedToken, AppIdentity)
    case refused(Reason)
}
