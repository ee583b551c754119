package import AssayCore

extension YAMLNode {
    /// The value as YAML's core schema means it (YAML 1.2, section 10.3): plain text may be null, a truth value or a whole number.
    package var json: JSON {
        switch content {
        case .mapping(let entries): return .object(entries.map { JSONMember($0.key, $0.value.json) })
        case .sequence(let elements): return .array(elements.map(\.json))
        case .scalar(let text, isPlain: false): return .string(text)
        case .scalar(let text, isPlain: true):
            if isNull { return .null }
            if let value = try? bool() { return .bool(value) }
            if let number = try? integer(Int64.self) { return .integer(number) }
            return .string(text)
        }
    }
}
