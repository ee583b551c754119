/// What a server says of evidence that only it can judge.
///
/// The third outcome, that it did not say, is an ``UpstreamFailure`` that is thrown.
public enum UpstreamVerdict<Answer: Sendable>: Sendable {
    /// The evidence is genuine, with what else the server says of it.
    case genuine(Answer)
    /// The evidence is not genuine. The detail is for records, never for the client, and holds no secret.
    case refused(detail: String? = nil)
}
