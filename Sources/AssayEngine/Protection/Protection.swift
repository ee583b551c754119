public import AssayKit

/// What became of a request to a protected service.
public struct Protection: Sendable {
    /// A request that is let through.
    public struct Admission: Sendable {
        /// How it was counted; nil where the service's level is OFF, so that nobody looked.
        public let use: TokenUse?
        /// Its token, if it is good, whether or not it was used before; nil too where nobody looked.
        public let token: VerifiedToken?
    }

    public let decision: DecisionID
    /// Whether it is let through; if not, what to tell the client, and why it is so.
    public let result: Result<Admission, CallFailure>
}
