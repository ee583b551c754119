import AssayCore
import AssayKit

/// Judges values by those parts of JSON Schema that our schema uses; a part that it does not know is an issue.
struct SchemaValidator {
    let root: JSON

    /// Reads what is required unless a profile has it as required: a sample has no profiles.
    init(root: JSON) {
        self.root = Self.strict(root)
    }

    private static func strict(_ schema: JSON) -> JSON {
        guard let members = schema.members else { return schema }
        let names = ["requiredUnlessShared": "required", "oneOfUnlessShared": "oneOf"]
        return .object(members.map { JSONMember(names[$0.name] ?? $0.name, strict($0.value)) })
    }

    /// Words that say nothing about what is valid.
    private static let silent: Set<String> = [
        "$schema", "$defs", "title", "description", "default", "examples", "type", "$ref", "enum", "const", "pattern",
        "minimum", "maximum", "minLength", "maxLength", "items", "minItems", "uniqueItems", "properties", "required",
        "additionalProperties", "propertyNames", "oneOf", "allOf", "anyOf", "durationMinimum", "durationMaximum",
        "if", "then",
    ]

    /// The schema that a reference leads to, with what stands beside the reference.
    func resolved(_ schema: JSON) -> JSON {
        // The first of several forms is the one that a sample has.
        if let first = schema["anyOf"]?.array?.first {
            let beside = (schema.members ?? []).filter { $0.name != "anyOf" }
            return .object(beside + (resolved(first).members ?? []).filter { schema[$0.name] == nil })
        }
        guard let reference = schema["$ref"]?.string else { return schema }
        let name = reference.split(separator: "/").last.map(String.init) ?? ""
        let target = resolved(root["$defs"]?[name] ?? .null)
        let beside = (schema.members ?? []).filter { $0.name != "$ref" }
        return .object((target.members ?? []).filter { schema[$0.name] == nil } + beside)
    }

    func accepts(_ value: JSON, by schema: JSON) -> Bool {
        if let forms = schema["anyOf"]?.array { return forms.contains { accepts(value, by: $0) } }
        let schema = resolved(schema)
        return unknownWords(of: schema).isEmpty && hasType(value, schema) && isAmong(value, schema)
            && isInRange(value, schema) && isText(value, schema) && isList(value, schema) && isObject(value, schema)
            && (schema["oneOf"]?.array.map { $0.count { accepts(value, by: $0) } == 1 } ?? true)
            && (schema["allOf"]?.array ?? []).allSatisfy { accepts(value, by: $0) }
            && (schema["if"].map { !accepts(value, by: $0) || accepts(value, by: schema["then"] ?? [:]) } ?? true)
    }

    func unknownWords(of schema: JSON) -> [String] {
        (schema.members ?? []).map(\.name).filter { !SchemaValidator.silent.contains($0) }
    }

    private func hasType(_ value: JSON, _ schema: JSON) -> Bool {
        guard let type = schema["type"] else { return true }
        let types = type.array?.compactMap(\.string) ?? [type.string ?? ""]
        return switch value {
        case .null: types.contains("null")
        case .bool: types.contains("boolean")
        case .integer: types.contains("integer") || types.contains("number")
        case .number: types.contains("number")
        case .string: types.contains("string")
        case .array: types.contains("array")
        case .object: types.contains("object")
        }
    }

    private func isAmong(_ value: JSON, _ schema: JSON) -> Bool {
        (schema["enum"]?.array?.contains(value) ?? true) && (schema["const"].map { $0 == value } ?? true)
    }

    private func isInRange(_ value: JSON, _ schema: JSON) -> Bool {
        guard let number = value.number else { return true }
        return number >= schema["minimum"]?.number ?? -.infinity && number <= schema["maximum"]?.number ?? .infinity
    }

    private func isText(_ value: JSON, _ schema: JSON) -> Bool {
        guard let text = value.string else { return true }
        if let pattern = schema["pattern"]?.string, !SchemaValidator.matches(text, pattern) { return false }
        return text.count >= schema["minLength"]?.integer ?? 0 && text.count <= schema["maxLength"]?.integer ?? .max
    }

    private func isList(_ value: JSON, _ schema: JSON) -> Bool {
        guard let elements = value.array else { return true }
        return elements.count >= schema["minItems"]?.integer ?? 0
            && (schema["uniqueItems"]?.bool != true || Set(elements).count == elements.count)
            && (schema["items"].map { items in elements.allSatisfy { accepts($0, by: items) } } ?? true)
    }

    private func isObject(_ value: JSON, _ schema: JSON) -> Bool {
        guard let members = value.members else { return true }
        guard (schema["required"]?.array ?? []).allSatisfy({ value[$0.string ?? ""] != nil }) else { return false }
        return members.allSatisfy { member in
            if let names = schema["propertyNames"], !accepts(.string(member.name), by: names) { return false }
            if let property = schema["properties"]?[member.name] { return accepts(member.value, by: property) }
            guard let others = schema["additionalProperties"] else { return true }
            return others.bool ?? accepts(member.value, by: others)
        }
    }

    static func matches(_ text: String, _ pattern: String) -> Bool {
        guard let regex = try? Regex(pattern) else { return false }
        return (try? regex.firstMatch(in: text)) != nil
    }
}
