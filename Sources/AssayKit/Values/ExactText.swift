/// Text that is compared, ordered and hashed by its UTF-8 bytes, in linear time.
///
/// `String` compares by canonical equivalence: different spellings are equal, and a hostile run of combining marks costs
/// quadratic time. Whatever came from outside is looked up and compared as this type, or by ``Swift/String/isExactly(_:)``;
/// RFC 7515, section 5.3, forbids normalization for the members of a JOSE header, and RFC 8259, section 8.3, compares names
/// by code units.
public struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The same text, which compares in Swift's way.
    public let string: String

    public init(_ string: String) {
        self.string = string
    }

    public init(_ string: Substring) {
        self.string = String(string)
    }

    public init(stringLiteral value: String) {
        string = value
    }

    public var description: String { string }

    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.string.isExactly(right.string)
    }

    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.precedesExactly(right.string)
    }

    public func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { bytes in
            hasher.combine(bytes.count)
            hasher.combine(bytes: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension ExactText: CodingKeyRepresentable {
    /// The text as a key of a dictionary that is decoded.
    private struct Key: CodingKey {
        let stringValue: String
        let intValue: Int? = nil

        init(stringValue: String) {
            self.stringValue = stringValue
        }

        init?(intValue: Int) {
            return nil
        }
    }

    public var codingKey: any CodingKey { Key(stringValue: string) }

    public init?(codingKey: some CodingKey) {
        string = codingKey.stringValue
    }
}

extension ExactText: Codable {
    public init(from decoder: any Decoder) throws {
        string = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}
