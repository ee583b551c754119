/// Why the HTTP transport cannot serve.
public struct HTTPServiceError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The address is taken, not ours, or not allowed.
        case cannotListen = "cannot_listen"
        /// A method's HTTP rule is no template that can be routed by.
        case invalidRule = "invalid_rule"
        /// Two methods have the same HTTP rule.
        case conflictingRules = "conflicting_rules"
    }

    public let code: Code
    /// What went wrong, for an operator.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }
}
