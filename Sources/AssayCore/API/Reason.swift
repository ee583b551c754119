/// Why evidence, a challenge or a token was refused: a stable code for logs, audit records, metric labels and tests.
///
/// A reason says which check failed, never what a secret was. Clients do not see it; operators do, under the decision
/// id that clients are given. Every plugin lists its reasons in its `PluginDescriptor`, and the kernel refuses to
/// start when two plugins claim one code.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The stable code: lower-case words joined by underscores.
    ///
    /// It never changes its meaning.
    public let code: String
    /// One sentence for people.
    public let summary: String
    /// What an operator does about it: where to look, what to change, or that nothing needs to be done.
    ///
    /// Empty if there is none.
    public let advice: String

    /// Declares a reason.
    ///
    /// - `code`: unique among all plugins of a program.
    /// - `advice`: one to three sentences for operators, as `assay reasons CODE` prints them.
    public init(_ code: String, _ summary: String, advice: String = "") {
        self.code = code
        self.summary = summary
        self.advice = advice
    }

    /// Whether two reasons have one code.
    public static func == (left: Reason, right: Reason) -> Bool {
        left.code.isExactly(right.code)
    }

    /// Hashes the code.
    public func hash(into hasher: inout Hasher) {
        code.hashExactly(into: &hasher)
    }

    /// The code.
    public var description: String { code }
}
