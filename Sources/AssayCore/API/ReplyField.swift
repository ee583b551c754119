/// A field of a reply, in addition to the kernel's.
public struct ReplyField: Sendable, Hashable {
    /// The name in lowerCamelCase.
    @Exact public private(set) var name: String
    /// The field's value.
    public let value: JSON

    /// Makes a field of the reply.
    public init(_ name: String, _ value: JSON) {
        self.name = name
        self.value = value
    }

    /// A field of bytes: standard, padded Base 64, the one form that Apple's decoders read.
    public static func bytes(_ name: String, _ bytes: some Collection<UInt8>) -> ReplyField {
        ReplyField(name, .string(Base64.encode(bytes)))
    }
}
