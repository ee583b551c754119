public import AssayKit

/// Why an audit file cannot be opened; words for an operator.
public struct AuditError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
