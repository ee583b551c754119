/// Why the transport cannot serve.
public struct ExtAuthzError: Error, Sendable, CustomStringConvertible {
    public enum Code: String, Sendable {
        /// The address is taken, not ours, or not allowed.
        case cannotListen = "cannot_listen"
        /// The handler has no method that decides about requests.
        case missingMethod = "missing_method"
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
