/// What a target made of an input.
public enum FuzzVerdict: Sendable, Equatable {
    case accepted
    /// Refused, with the code of the reason.
    case refused(String)
}
