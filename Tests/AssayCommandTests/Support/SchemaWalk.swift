import AssayCore
import AssayKit

/// Goes through everything that a schema describes, on a sample document that has all of it.
struct SchemaWalk {
    /// One value of the sample.
    struct Place {
        /// The way to the value, as diagnostics write it.
        let path: String
        /// The key that the value stands under, or the key of the list that it is in.
        let key: String
        let schema: JSON
        /// The sample with another value in the place; nil takes the value away.
        let replacing: (JSON?) -> JSON
        let value: JSON
    }

    let validator: SchemaValidator
    /// Values by key, where the schema alone tells no good one.
    let fixtures: [String: JSON]

    /// A value that has every key of a schema; of alternatives, the first.
    func sample(_ schema: JSON, key: String = "") -> JSON {
        let schema = validator.resolved(schema)
        if let fixture = fixtures[key] { return fixture }
        if let value = schema["const"] ?? schema["examples"]?.array?.first ?? schema["enum"]?.array?.first {
            return value
        }
        if let properties = schema["properties"]?.members {
            let dropped = alternatives(schema).flatMap { $0.dropFirst() }
            return .object(
                properties.filter { !dropped.contains($0.name) }
                    .map { JSONMember($0.name, sample($0.value, key: $0.name)) })
        }
        if let others = schema["additionalProperties"], others.bool == nil { return ["example": sample(others)] }
        if let items = schema["items"] { return [sample(items, key: key + "[]")] }
        switch schema["type"]?.array?.first?.string ?? schema["type"]?.string {
        case "integer": return schema["minimum"] ?? 1
        case "number": return 1
        case "boolean": return true
        default: return schema["default"] ?? "text"
        }
    }

    /// The groups of keys of which one must be there.
    func alternatives(_ schema: JSON) -> [[String]] {
        ([schema] + (schema["allOf"]?.array ?? [])).compactMap { part in
            part["oneOf"]?.array?.compactMap { $0["required"]?.array?.first?.string }
        }
    }

    /// A document with a place of a sample, what leads to it, and what the schema requires beside that.
    ///
    /// - Parameter keepsSection: whether the section of a plugin that the place is in remains whole.
    func needed(_ document: JSON, for path: String, keepsSection: Bool) -> JSON {
        needed(document, validator.root, path: "", for: path, keepsSection)
    }

    private func needed(
        _ value: JSON, _ schema: JSON, path: String, for place: String, _ keepsSection: Bool
    ) -> JSON {
        // The keys of one mapping may depend on each other.
        if place.split(separator: ".").dropLast().joined(separator: ".") == path { return value }
        let parents = path.split(separator: ".").dropLast()
        if keepsSection, parents.last == "providers" || parents.last == "consumers" { return value }
        let schema = validator.resolved(schema)
        func leads(_ path: String) -> Bool {
            place == path || place.hasPrefix(path + ".") || place.hasPrefix(path + "[")
        }
        if let members = value.members, schema["properties"] != nil || schema["additionalProperties"]?.members != nil {
            let required = (schema["required"]?.array ?? []).compactMap(\.string) + alternatives(schema).flatMap { $0 }
            return .object(
                members.compactMap { member in
                    let inner = path.isEmpty ? member.name : "\(path).\(member.name)"
                    let others = schema["additionalProperties"].flatMap { $0.bool == nil ? $0 : nil }
                    guard let part = schema["properties"]?[member.name] ?? others else { return nil }
                    guard leads(inner) || required.contains(member.name) else { return nil }
                    return JSONMember(member.name, needed(member.value, part, path: inner, for: place, keepsSection))
                })
        }
        if let elements = value.array, let items = schema["items"] {
            return .array(
                elements.enumerated().map {
                    needed($0.element, items, path: "\(path)[\($0.offset)]", for: place, keepsSection)
                })
        }
        return value
    }

    /// Every place of a document that is a sample of the schema.
    func places(_ document: JSON) -> [Place] {
        var places: [Place] = []
        visit(document, validator.root, path: "", key: "", to: &places) { $0 ?? .null }
        return places
    }

    private func visit(
        _ value: JSON, _ schema: JSON, path: String, key: String, to places: inout [Place],
        replacing: @escaping (JSON?) -> JSON
    ) {
        let schema = validator.resolved(schema)
        places.append(Place(path: path, key: key, schema: schema, replacing: replacing, value: value))
        for member in value.members ?? [] {
            let others = schema["additionalProperties"].flatMap { $0.bool == nil ? $0 : nil }
            guard let inner = schema["properties"]?[member.name] ?? others else { continue }
            let rest = (value.members ?? [])
            visit(
                member.value, inner, path: path.isEmpty ? member.name : "\(path).\(member.name)", key: member.name,
                to: &places
            ) { other in
                replacing(
                    .object(
                        rest.compactMap { old in
                            old.name == member.name ? other.map { JSONMember(old.name, $0) } : old
                        }))
            }
        }
        guard let items = schema["items"] else { return }
        for (index, element) in (value.array ?? []).enumerated() {
            let rest = value.array ?? []
            visit(element, items, path: "\(path)[\(index)]", key: key + "[]", to: &places) { other in
                replacing(
                    .array(rest.enumerated().compactMap { $0.offset == index ? other : $0.element }))
            }
        }
    }
}
