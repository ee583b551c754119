/// Why evidence, a challenge or a token was refused: a stable code for logs, audit records, metric labels and tests.
///
/// A reason says which check failed, never what a secret was. Clients do not see it; operators do, under the decision
/// id that clients are given. Every plugin lists its reasons in its ``PluginDescriptor``, and the kernel refuses to
/// start when two plugins claim one code.
public struct Reason: Sendable, Hashable, CustomStringConvertible {
    /// The stable code: lower-case words joined by underscores. It never changes its meaning.
    public let code: String
    /// One sentence for people.
    public let summary: String

    public init(_ code: String, _ summary: String) {
        self.code = code
        self.summary = summary
    }

    public static func == (left: Reason, right: Reason) -> Bool {
        left.code.isExactly(right.code)
    }

    public func hash(into hasher: inout Hasher) {
        code.hashExactly(into: &hasher)
    }

    public var description: String { code }
}
