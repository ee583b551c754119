/// A secret text that lets its bearer in (RFC 6750); it never shows itself in a description.
public struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The largest one that is looked at, in bytes.
    public static let byteLimit = 16_384

    /// The token itself; a secret.
    @Exact public private(set) var text: String

    /// - Returns: nil for what is empty, too long, or has other characters than RFC 6750, section 2.1 allows.
    public init?(_ text: String) {
        guard (1...BearerToken.byteLimit).contains(text.utf8.count), text.utf8.allSatisfy(BearerToken.isAllowed) else {
            return nil
        }
        self.text = text
    }

    /// A constant text that does not reveal the token.
    public var description: String { "(a bearer token)" }
    /// Same as ``description``.
    public var debugDescription: String { description }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "-._~+/=".utf8.contains(byte)
    }
}
