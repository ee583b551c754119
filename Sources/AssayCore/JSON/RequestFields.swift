/// A typed request: reads itself from the fields that a client sent.
public protocol RequestMessage: Sendable {
    /// - Throws: ``InvalidRequest`` when a field is missing or has the wrong type; the message for the client names the
    ///   field.
    init(_ fields: RequestFields) throws(InvalidRequest)

    /// Which fields it reads, for descriptions of the API; nil, the default, when it does not say.
    static var shape: MessageShape? { get }
}

extension RequestMessage {
    /// No description of the fields.
    public static var shape: MessageShape? { nil }
}

/// A request without the method's form: the client's error, with a message for it.
public struct InvalidRequest: Error, Sendable, Equatable, CustomStringConvertible {
    /// The name of the field and the error, for the client.
    @Exact public private(set) var message: String

    /// Makes an error with a message for the client.
    public init(_ message: String) {
        self.message = message
    }

    /// Same as ``message``.
    public var description: String { message }
}

/// The fields of a request, read as proto3 JSON: each name in lowerCamelCase or snake_case, `null` as absent.
///
/// Real clients mix both spellings in one body. Unknown fields are ignored here: the kernel has refused those of exchanges, and of
/// methods that ask for it. A repeated field is refused, because two readers could use different values.
public struct RequestFields: Sendable {
    private let members: [JSONMember]
    let bytesLimit: Int

    /// - Parameter bytesLimit: the bytes of all texts in the body together; three of Base64's four characters count,
    ///   since they may be bytes.
    /// - Throws: ``InvalidRequest`` when the body is not an object, when a name in it is not ASCII, as field names are, or
    ///   when its texts are too large.
    public init(_ body: JSON, bytesLimit: Int = .max) throws(InvalidRequest) {
        guard let members = body.members else {
            throw InvalidRequest("the request body must be a JSON object")
        }
        guard members.allSatisfy(\.name.isASCII) else {
            throw InvalidRequest("the name of a field has characters that no field's name has")
        }
        if bytesLimit < .max, body.textBytes * 3 / 4 > bytesLimit {
            let large = members.first { $0.value.textBytes * 3 / 4 > bytesLimit && $0.name.utf8.count <= 64 }
            throw InvalidRequest(
                large.map { "the field '\($0.name)' is too large: \(bytesLimit) bytes at most" }
                    ?? "the request is too large: its fields have \(bytesLimit) bytes at most together")
        }
        self.members = members
        self.bytesLimit = bytesLimit
    }

    /// The text of a field that is required and must not be empty.
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

    /// The bytes of a Base 64 field that is required and must not be empty: either alphabet, padded or not.
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
        // Both spellings begin alike, and most names otherwise.
        let first = name.utf8.first
        for member in members where member.name.utf8.first == first {
            guard RequestFields.isSpelling(member.name, of: name) else { continue }
            guard found == nil else { throw InvalidRequest("the field '\(name)' is present more than once") }
            found = member.value
        }
        if case .null? = found { return nil }
        return found
    }

    /// Whether a text is a name in lowerCamelCase, which has ASCII letters only, or the same in snake_case.
    package static func isSpelling(_ text: String, of name: String) -> Bool {
        if text.isExactly(name) { return true }
        var rest = text.utf8.makeIterator()
        for byte in name.utf8 {
            if byte.isASCIIUppercase {
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
            let isUpperCase = byte.isASCIIUppercase
            if isUpperCase { text += "_" }
            text.unicodeScalars.append(Unicode.Scalar(isUpperCase ? byte | 0x20 : byte))
        }
    }
}

/// Fields of the further types of proto3 JSON.
extension RequestFields {
    /// A whole number, also one in quotation marks, as proto3 writes those of 64 bits; nil when it is absent.
    public func integer(_ name: String) throws(InvalidRequest) -> Int64? {
        switch try value(name) {
        case nil: return nil
        case .integer(let number): return number
        case .string(let text):
            if text.utf8.first != UInt8(ascii: "+"), let number = Int64(text) { return number }
        default: break
        }
        throw InvalidRequest("the field '\(name)' must be a whole number")
    }

    /// A duration such as `3600s` or `0.5s` (google.protobuf.Duration, at most nine decimals); nil when it is absent.
    public func duration(_ name: String) throws(InvalidRequest) -> Duration? {
        guard let text = try optionalString(name) else { return nil }
        guard let duration = Duration(protoJSON: text) else {
            throw InvalidRequest("the field '\(name)' must be a duration in seconds, such as 3600s")
        }
        return duration
    }

    /// A list of texts; a single text is a list of one, as in queries, and an absent field is empty.
    public func strings(_ name: String) throws(InvalidRequest) -> [String] {
        switch try value(name) {
        case nil: return []
        case .string(let text): return [text]
        case .array(let elements):
            let texts = elements.compactMap(\.string)
            guard texts.count == elements.count else { break }
            return texts
        default: break
        }
        throw InvalidRequest("the field '\(name)' must be a list of strings")
    }

    /// A list of bytes in Base 64, such as a chain of certificates; a single text is a list of one, and an absent field is
    /// empty.
    ///
    /// - `limit`: the most elements.
    public func bytesList(_ name: String, atMost limit: Int) throws(InvalidRequest) -> [[UInt8]] {
        let texts = try strings(name)
        guard texts.count <= limit else { throw InvalidRequest("the field '\(name)' has more than \(limit) elements") }
        return try texts.map { (text) throws(InvalidRequest) in
            guard !text.isEmpty, let bytes = Base64.decode(text) else {
                throw InvalidRequest("the field '\(name)' must be a list of strings of Base 64")
            }
            return bytes
        }
    }

    /// A message within the message; nil when it is absent.
    public func message(_ name: String) throws(InvalidRequest) -> RequestFields? {
        guard let value = try value(name) else { return nil }
        guard value.members != nil else { throw InvalidRequest("the field '\(name)' must be an object") }
        return try RequestFields(value, bytesLimit: bytesLimit)
    }

    /// A field that is an object of any form; nil when it is absent.
    package func object(_ name: String) throws(InvalidRequest) -> JSON? {
        guard let value = try value(name) else { return nil }
        guard value.members != nil else { throw InvalidRequest("the field '\(name)' must be an object") }
        return value
    }

    /// A point in time (RFC 3339); nil when it is absent.
    public func timestamp(_ name: String) throws(InvalidRequest) -> Instant? {
        guard let text = try optionalString(name) else { return nil }
        guard let instant = Instant(rfc3339: text) else {
            throw InvalidRequest("the field '\(name)' must be a time such as 2027-01-01T00:00:00Z")
        }
        return instant
    }

    /// Messages within the message; none when it is absent.
    public func messages(_ name: String) throws(InvalidRequest) -> [RequestFields] {
        guard let value = try value(name) else { return [] }
        guard let elements = value.array, elements.allSatisfy({ $0.members != nil }) else {
            throw InvalidRequest("the field '\(name)' must be a list of objects")
        }
        var messages: [RequestFields] = []
        for element in elements { messages.append(try RequestFields(element, bytesLimit: bytesLimit)) }
        return messages
    }

    /// Which fields an update is about; nil when nothing is said.
    public func fieldMask(_ name: String = "updateMask") throws(InvalidRequest) -> FieldMask? {
        guard let text = try optionalString(name) else { return nil }
        return try FieldMask(text)
    }

    /// The field mask of an update, which is required.
    public func requiredFieldMask(_ name: String = "updateMask") throws(InvalidRequest) -> FieldMask {
        guard let mask = try fieldMask(name) else { throw InvalidRequest("the field '\(name)' is missing") }
        return mask
    }

    /// The value of a field, of any type; nil when it is absent or null.
    public func json(_ name: String) throws(InvalidRequest) -> JSON? {
        try value(name)
    }

    /// Whether a field is present and not null.
    public func has(_ name: String) throws(InvalidRequest) -> Bool {
        try value(name) != nil
    }
}

extension Duration {
    /// The duration of a proto3 JSON text, not negative; nil for any other text.
    public init?(protoJSON text: String) {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        // The longest one: twelve digits, a point, nine digits and the letter.
        guard text.utf8.count <= 23 else { return nil }
        let parts = String(decoding: text.utf8.dropLast(), as: UTF8.self).split(onASCII: ".", maxSplits: 1)
        let isNumber = { (part: Substring) in
            !part.isEmpty && part.utf8.allSatisfy(\.isASCIIDigit)
        }
        // google.protobuf.Duration goes to 10 000 years.
        guard parts.allSatisfy(isNumber), let whole = parts.first, whole.utf8.count <= 12, let seconds = Int64(whole),
            seconds <= 315_576_000_000
        else { return nil }
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            guard parts[1].utf8.count <= 9,
                let digits = Int64(parts[1] + String(repeating: "0", count: 9 - parts[1].utf8.count))
            else { return nil }
            nanoseconds = digits
        }
        self = .seconds(seconds) + .nanoseconds(nanoseconds)
    }
}
