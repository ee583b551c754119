/// What came of a question to the operator's backend, as it is counted.
enum CallbackResult: String, Sendable, CaseIterable {
    case allowed
    case refused
    /// No answer, or none that says yes or no.
    case failed
    /// Not asked, because too many questions were on their way.
    case crowded
}
