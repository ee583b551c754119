public import AssayKit

/// Why keys cannot be read, made or used; words for an operator, never key material.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String
    /// Whether the keys are in order, and only the rules of a key's life forbid what was asked.
    public let isRefusal: Bool

    init(_ message: String) {
        self.message = message
        isRefusal = false
    }

    init(refusal message: String) {
        self.message = message
        isRefusal = true
    }

    public var description: String { message }
}
