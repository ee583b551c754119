public import AssayCore

/// The reason why plugins cannot work together.
public struct RegistryError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What is wrong, in words.
    @Exact public private(set) var message: String

    init(_ message: String) {
        self.message = message
    }

    /// The message.
    public var description: String { message }
}
