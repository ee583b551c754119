/// A check that asks nothing that could be answered.
struct UnreadableCheck: Error, CustomStringConvertible {
    /// What is wrong, for an operator.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
