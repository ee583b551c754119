/// The fields of a request or of a reply, for descriptions of the API such as OpenAPI.
///
/// A shape is declared next to the code that reads or makes the message; it checks nothing itself. Requests may have
/// further fields, which are refused in exchanges and where the shape says so; replies have none, unless the shape is open.
public struct MessageShape: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The fields of the message.
    public let fields: [MessageField]
    /// Whether a reply may have fields that are not named here.
    public let isOpen: Bool
    /// Whether the kernel refuses requests with fields that are not named here, in methods other than exchanges, which never have any (unless
    /// the policy ignores them); otherwise they are ignored, so that newer clients work.
    ///
    /// Over HTTP this is also about parameters of the query, except Google's standard ones, such as `alt` and `key`.
    public let refusesUnknownFields: Bool
    /// The JSON Schema of the values of fields that are not named here, of an open message; nil when nothing is known of them.
    package var openFields: JSON?

    /// Makes a shape; `isOpen` permits a reply to have further fields, `refusesUnknownFields` forbids them in requests.
    public init(_ fields: [MessageField], isOpen: Bool = false, refusesUnknownFields: Bool = false) {
        self.fields = fields
        self.isOpen = isOpen
        self.refusesUnknownFields = refusesUnknownFields
    }

    /// Makes a closed shape from a list of fields.
    public init(arrayLiteral fields: MessageField...) {
        self.init(fields)
    }

    /// The same with further fields.
    public static func + (shape: MessageShape, fields: [MessageField]) -> MessageShape {
        MessageShape(
            shape.fields + fields, isOpen: shape.isOpen, refusesUnknownFields: shape.refusesUnknownFields)
    }
}

/// One field of a message, in proto3's JSON.
public struct MessageField: Sendable, Hashable {
    /// The type of its value.
    public indirect enum Kind: Sendable, Hashable {
        case text
        /// Text with a limited number of bytes.
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
    /// The type of the field's value.
    public let kind: Kind
    /// Whether a request without it is refused, and no reply lacks it.
    public let isRequired: Bool

    /// Makes the description of one field.
    public init(name: String, kind: Kind, isRequired: Bool) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
    }

    /// A field that every message has.
    public static func required(_ name: String, _ kind: Kind) -> MessageField {
        MessageField(name: name, kind: kind, isRequired: true)
    }

    /// A field that a message may omit.
    public static func optional(_ name: String, _ kind: Kind) -> MessageField {
        MessageField(name: name, kind: kind, isRequired: false)
    }
}
