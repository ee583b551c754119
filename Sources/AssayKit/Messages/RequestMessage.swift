/// A typed request: reads itself from the fields that a client sent.
public protocol RequestMessage: Sendable {
    /// - Throws: ``InvalidRequest`` when a field is missing or has the wrong type; the client is told which one.
    init(_ fields: RequestFields) throws(InvalidRequest)

    /// Which fields it reads, for descriptions of the API; nil, the default, when it does not say.
    static var shape: MessageShape? { get }
}

extension RequestMessage {
    public static var shape: MessageShape? { nil }
}

/// A request that is not of the method's form: the client's mistake, told to it in words.
public struct InvalidRequest: Error, Sendable, Equatable, CustomStringConvertible {
    @Exact public private(set) var message: String

    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}

/// The fields of a request, read as proto3 JSON: each name in lowerCamelCase or snake_case, `null` as absent.
///
/// Real clients mix both spellings in one body. Fields that nobody asks for are passed over, so that newer clients work;
/// a field that is there twice is refused, because two readers could take different ones.
public struct RequestFields: Sendable {
    private let members: [JSONMember]
    let bytesLimit: Int

    /// - Throws: ``InvalidRequest`` when the body is no object, or a name in it is not ASCII, as those of fields are.
    public init(_ body: JSON, bytesLimit: Int = .max) throws(InvalidRequest) {
        guard let members = body.members else {
            throw InvalidRequest("the request body must be a JSON object")
        }
        guard members.allSatisfy(\.name.isASCII) else {
            throw InvalidRequest("the name of a field has characters that no field's name has")
        }
        self.members = members
        self.bytesLimit = bytesLimit
    }

    /// The text of a field that must be there and not be empty.
    public func string(_ name: String) throws(InvalidRequest) -> String {
        guard let text = try optionalString(name) else { throw InvalidRequest("the field '\(name)' is missing") }
        return text
    }

    /// The text of a field; nil when it is absent, null or empty, which proto3 does not tell apart.
    public func optionalString(_ name: String) throws(InvalidRequest) -> String? {
        switch try value(name) {
        case nil: return nil
        case .string(let text):
            guard text.utf8.count <= bytesLimit else {
                throw InvalidRequest("the field '\(name)' is too large: \(bytesLimit) bytes at most")
            }
            return text.isEmpty ? nil : text
        default: throw InvalidRequest("the field '\(name)' must be a string")
        }
    }

    /// The bytes of a Base 64 field that must be there and not be empty: either alphabet, padded or not.
    public func bytes(_ name: String) throws(InvalidRequest) -> [UInt8] {
        guard let value = try value(name), value != .string("") else {
            throw InvalidRequest("the field '\(name)' is missing")
        }
        guard let text = value.string, let bytes = Base64.decode(text) else {
            throw InvalidRequest("the field '\(name)' must be a string of Base 64")
        }
        guard bytes.count <= bytesLimit else {
            throw InvalidRequest("the field '\(name)' is too large: \(bytesLimit) bytes at most")
        }
        return bytes
    }

    /// A truth value; false when it is absent.
    public func bool(_ name: String) throws(InvalidRequest) -> Bool {
        switch try value(name) {
        case nil: return false
        case .bool(let value): return value
        default: throw InvalidRequest("the field '\(name)' must be true or false")
        }
    }

    func value(_ name: String) throws(InvalidRequest) -> JSON? {
        var found: JSON?
        for member in members where member.name.isExactly(name) || RequestFields.isSnakeCase(member.name, of: name) {
            guard found == nil else { throw InvalidRequest("the field '\(name)' is there more than once") }
            found = member.value
        }
        if case .null? = found { return nil }
        return found
    }

    /// Whether a text is the snake_case of a name in lowerCamelCase, which has ASCII letters only.
    private static func isSnakeCase(_ text: String, of name: String) -> Bool {
        var rest = text.utf8.makeIterator()
        for byte in name.utf8 {
            if (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) {
                guard rest.next() == UInt8(ascii: "_"), rest.next() == byte | 0x20 else { return false }
            } else {
                guard rest.next() == byte else { return false }
            }
        }
        return rest.next() == nil
    }
}

extension String {
    /// A name of proto3 JSON, which is ASCII, in its other spelling: `debugToken` as `debug_token`.
    package var snakeCased: String {
        utf8.reduce(into: "") { text, byte in
            let isUpperCase = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            if isUpperCase { text += "_" }
            text.unicodeScalars.append(Unicode.Scalar(isUpperCase ? byte | 0x20 : byte))
        }
    }
}
