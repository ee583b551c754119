/// Text that is compared, ordered and hashed by its UTF-8 bytes, in linear time.
///
/// `String` compares by canonical equivalence: different spellings are equal, and a hostile run of combining marks
/// costs quadratic time. Text from outside is looked up and compared as this type, or by
/// ``Swift/String/isExactly(_:)``; RFC 7515, section 5.3, forbids normalization for the members of a JOSE header, and
/// RFC 8259, section 8.3, compares names by code units.
public struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The same text, which compares in Swift's way.
    public let string: String

    /// Wraps a string.
    public init(_ string: String) {
        self.string = string
    }

    /// Wraps a copy of a substring.
    public init(_ string: Substring) {
        self.string = String(string)
    }

    /// Wraps a literal.
    public init(stringLiteral value: String) {
        string = value
    }

    /// Same as ``string``.
    public var description: String { string }

    /// Compares by UTF-8 bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.string.isExactly(right.string)
    }

    /// Orders by UTF-8 bytes.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.precedesExactly(right.string)
    }

    /// Hashes the UTF-8 bytes.
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

    /// The text as a coding key, for dictionaries that are encoded as objects.
    public var codingKey: any CodingKey { Key(stringValue: string) }

    /// Makes the text of a coding key; never nil.
    public init?(codingKey: some CodingKey) {
        string = codingKey.stringValue
    }
}

extension ExactText: Codable {
    /// Decodes a single string.
    public init(from decoder: any Decoder) throws {
        string = try decoder.singleValueContainer().decode(String.self)
    }

    /// Encodes a single string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

/// Lookups by text in dictionaries with ``ExactText`` keys.
extension Dictionary where Key == ExactText {
    /// The value for a key, compared by its UTF-8 bytes; nil when the key is absent.
    @inlinable
    public subscript(name: String) -> Value? {
        get { self[ExactText(name)] }
        // In place: `set` would first copy a value that is a collection.
        _modify { yield &self[ExactText(name)] }
    }

    /// The value for a key, compared by its UTF-8 bytes; `standard` when the key is absent.
    @inlinable
    public subscript(name: String, default standard: @autoclosure () -> Value) -> Value {
        get { self[ExactText(name), default: standard()] }
        _modify { yield &self[ExactText(name), default: standard()] }
    }
}

extension Set<ExactText> {
    /// The texts, each once.
    @inlinable
    public init(exactly texts: some Sequence<String>) {
        self.init(texts.lazy.map { ExactText($0) })
    }

    /// Whether the set contains a text, compared by its UTF-8 bytes.
    @inlinable
    public func contains(_ text: String) -> Bool {
        contains(ExactText(text))
    }

    /// Inserts a text unless the set contains the same UTF-8 bytes.
    @inlinable
    @discardableResult
    public mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: ExactText) {
        insert(ExactText(text))
    }
}
