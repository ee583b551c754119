extension JSON {
    /// The bytes of all strings in the value, without names of members.
    package var textBytes: Int {
        var bytes = 0
        visit { value in
            if case .string(let text) = value { bytes += text.utf8.count }
            return true
        }
        return bytes
    }

    /// Whether the value, written as JSON, has about this many bytes at most, and no more values than bytes.
    package func fits(in limit: Int) -> Bool {
        var bytes = 0
        visit { value in
            switch value {
            case .string(let text): bytes += text.utf8.count + 2
            case .object(let members): for member in members { bytes += member.name.utf8.count + 4 }
            case .array(let elements): bytes += elements.count + 2
            case .null, .bool, .integer, .number: bytes += 4
            }
            return bytes <= limit
        }
        return bytes <= limit
    }

    /// Visits each value, until a visit returns false; it needs no stack for what is deep.
    private func visit(_ visit: (JSON) -> Bool) {
        var rest = [self]
        while let value = rest.popLast() {
            guard visit(value) else { return }
            switch value {
            case .array(let elements): rest += elements
            case .object(let members): rest += members.lazy.map(\.value)
            case .null, .bool, .integer, .number, .string: break
            }
        }
    }
}
