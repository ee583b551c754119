/// Why a certificate or its key cannot be used.
public struct TLSError: Error, Sendable, CustomStringConvertible {
    /// What is wrong, for an operator; nothing of what stands in the key's file.
    public let message: String

    init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}
