/// A secret text that authenticates its bearer (RFC 6750); its description never contains it.
public struct BearerToken: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The largest accepted token, in bytes.
    public static let byteLimit = 16_384

    /// The token itself; a secret.
    @Exact public private(set) var text: String

    /// - Returns: nil for a text that is empty, too long, or has characters that RFC 6750, section 2.1 does not allow.
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
