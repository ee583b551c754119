/// A JSON value (RFC 8259).
///
/// Objects keep all members in their order: the reader decides whether a repeated name is an error. Numbers without
/// fraction and exponent that fit into 64 bits are ``integer(_:)``. Names and strings are compared by their UTF-8
/// bytes.
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([JSONMember])

    /// An object from names and values, in this order.
    public static func object(_ members: KeyValuePairs<String, JSON>) -> JSON {
        .object(members.map { JSONMember($0.key, $0.value) })
    }

    /// Compares names and strings by their UTF-8 bytes, and members in their order.
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isExactly(right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes names and strings by their UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .integer(let number): hasher.combine(number)
        case .number(let number): hasher.combine(number)
        case .string(let text): text.hashExactly(into: &hasher)
        case .array(let elements): hasher.combine(elements)
        case .object(let members): hasher.combine(members)
        }
    }

    /// The members of an object; nil for any other value.
    public var members: [JSONMember]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The value of the last member with a name; nil when no member has it, or when the value is not an object.
    public subscript(name: String) -> JSON? {
        members?.last { $0.name.isExactly(name) }?.value
    }

    /// The text of a string; nil for any other value.
    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number when it is whole; nil for any other value.
    public var integer: Int64? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The number, whole or not; nil for any other value.
    public var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number): number
        default: nil
        }
    }

    /// The truth value; nil for any other value.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The elements of an array; nil for any other value.
    public var array: [JSON]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}

/// A name and its value in a JSON object.
public struct JSONMember: Sendable, Hashable {
    /// The member's name, without escapes.
    public let name: String
    /// The member's value.
    public let value: JSON

    /// Makes a member from its name and its value.
    public init(_ name: String, _ value: JSON) {
        self.name = name
        self.value = value
    }

    /// Compares names by their UTF-8 bytes.
    public static func == (left: JSONMember, right: JSONMember) -> Bool {
        left.name.isExactly(right.name) && left.value == right.value
    }

    /// Hashes the name by its UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        name.hashExactly(into: &hasher)
        hasher.combine(value)
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A Boolean value.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// An object with members in the order of the literal.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(elements.map { JSONMember($0.0, $0.1) })
    }
    /// The value `null`.
    public init(nilLiteral: ()) { self = .null }
}
