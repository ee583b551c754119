/// Why keys cannot be read, made or used; words for an operator, never key material.
public struct KeyError: Error, Sendable, Equatable, CustomStringConvertible {
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
