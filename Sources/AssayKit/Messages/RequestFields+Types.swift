/// Fields of the further types of proto3 JSON.
extension RequestFields {
    /// A whole number, also one in quotation marks, as proto3 writes those of 64 bits; nil when it is absent.
    public func integer(_ name: String) throws(InvalidRequest) -> Int64? {
        switch try value(name) {
        case nil: return nil
        case .integer(let number): return number
        case .string(let text):
            if let number = Int64(text) { return number }
        default: break
        }
        throw InvalidRequest("the field '\(name)' must be a whole number")
    }

    /// A duration such as `3600s` or `0.5s` (google.protobuf.Duration, at most nine digits behind the point); nil when
    /// it is absent.
    public func duration(_ name: String) throws(InvalidRequest) -> Duration? {
        guard let text = try optionalString(name) else { return nil }
        guard let duration = Duration(protoJSON: text) else {
            throw InvalidRequest("the field '\(name)' must be a duration in seconds, such as 3600s")
        }
        return duration
    }

    /// A list of texts; a single text is a list of one, as queries have it, and what is absent is empty.
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

    /// A message within the message; nil when it is absent.
    public func message(_ name: String) throws(InvalidRequest) -> RequestFields? {
        guard let value = try value(name) else { return nil }
        guard value.members != nil else { throw InvalidRequest("the field '\(name)' must be an object") }
        return try RequestFields(value, bytesLimit: bytesLimit)
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

    /// The field mask of an update, which must be there.
    public func requiredFieldMask(_ name: String = "updateMask") throws(InvalidRequest) -> FieldMask {
        guard let mask = try fieldMask(name) else { throw InvalidRequest("the field '\(name)' is missing") }
        return mask
    }

    /// The value of a field, whatever it is; nil when it is absent or null.
    public func json(_ name: String) throws(InvalidRequest) -> JSON? {
        try value(name)
    }

    /// Whether a field is there and not null.
    public func has(_ name: String) throws(InvalidRequest) -> Bool {
        try value(name) != nil
    }
}

extension Duration {
    /// The duration that a text of proto3 JSON means, not below zero; nil for anything else.
    public init?(protoJSON text: String) {
        guard text.utf8.last == UInt8(ascii: "s") else { return nil }
        // The longest one: twelve digits, a point, nine digits and the letter.
        guard text.utf8.count <= 23 else { return nil }
        let parts = String(decoding: text.utf8.dropLast(), as: UTF8.self).split(onASCII: ".", maxSplits: 1)
        let isNumber = { (part: Substring) in
            !part.isEmpty && part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        // google.protobuf.Duration goes to 10 000 years.
        guard parts.allSatisfy(isNumber), parts[0].utf8.count <= 12, let seconds = Int64(parts[0]),
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
