/// A policy file's name and bytes.
public struct PolicyFile: Sendable {
    /// The name for messages.
    public let name: String
    /// The text in UTF-8.
    public let bytes: [UInt8]

    public init(name: String, bytes: [UInt8]) {
        self.name = name
        self.bytes = bytes
    }

    /// A policy file from its text.
    public init(name: String, text: String) {
        self.init(name: name, bytes: Array(text.utf8))
    }
}
