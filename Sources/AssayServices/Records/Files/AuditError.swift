public import AssayCore

/// Why an audit file cannot be opened or read, in words for an operator.
public struct AuditFileError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in words.
    @Exact public private(set) var message: String

    /// Makes an error from its words.
    package init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
