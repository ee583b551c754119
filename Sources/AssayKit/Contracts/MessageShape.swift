/// The fields of a request or of a reply, as descriptions of the API tell them to programs.
///
/// A shape is said beside the code that reads or makes the message, and decides nothing itself. In requests, fields that
/// are not in it are passed over; replies have none.
public struct MessageShape: Sendable, Hashable, ExpressibleByArrayLiteral {
    public let fields: [MessageField]
    /// Whether a reply may have fields that are not named here.
    public let isOpen: Bool

    public init(_ fields: [MessageField], isOpen: Bool = false) {
        self.fields = fields
        self.isOpen = isOpen
    }

    public init(arrayLiteral fields: MessageField...) {
        self.init(fields)
    }

    /// The same with further fields.
    public static func + (shape: MessageShape, fields: [MessageField]) -> MessageShape {
        MessageShape(shape.fields + fields, isOpen: shape.isOpen)
    }
}

/// One field of a message, in proto3's JSON.
public struct MessageField: Sendable, Hashable {
    /// What its value is.
    public indirect enum Kind: Sendable, Hashable {
        case text
        /// Text of so many bytes.
        case textOfLength(ClosedRange<Int>)
        /// Base 64, in either alphabet.
        case bytes
        case boolean
        /// A whole number.
        case integer(ClosedRange<Int64>)
        /// Seconds with an `s`, such as `3600s`.
        case duration
        /// RFC 3339.
        case timestamp
        /// Names of fields with commas between them.
        case fieldMask
        case choice([String])
        case message(MessageShape)
        case list(Kind, atMost: Int)
    }

    /// In lowerCamelCase; requests may spell it in snake_case, too.
    @Exact public private(set) var name: String
    public let kind: Kind
    /// Whether a request without it is refused, and no reply lacks it.
    public let isRequired: Bool

    public init(name: String, kind: Kind, isRequired: Bool) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
    }

    public static func required(_ name: String, _ kind: Kind) -> MessageField {
        MessageField(name: name, kind: kind, isRequired: true)
    }

    public static func optional(_ name: String, _ kind: Kind) -> MessageField {
        MessageField(name: name, kind: kind, isRequired: false)
    }
}
