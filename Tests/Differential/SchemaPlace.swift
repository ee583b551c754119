import AssayCore
import AssayEngine
import AssayPolicyTools
import Synchronization

/// A place in the JSON Schema of policies, which follows from the types that policies are decoded to.
///
/// Paths begin at the nearest definition of the schema: `service.enforcement`,
/// `consumer_custom_backend.backends.*.routes[].methods`.
struct SchemaPlace: Sendable {
    /// One key of a mapping.
    struct Key: Sendable {
        let name: String
        let path: String
        let place: SchemaPlace
        let isRequired: Bool
        /// Whether it excludes others, of which one must be there.
        let isAlternative: Bool
    }

    let path: String
    let schema: JSON

    /// The whole file.
    static let root = SchemaPlace("", policySchema)
    private static let policySchema = World.registry.policySchema
    private static let definitions = policySchema["$defs"]

    /// - Parameter path: the path, unless the schema refers to a definition.
    init(_ path: String, _ schema: JSON) {
        let name = schema["$ref"]?.string.map { String($0.dropFirst("#/$defs/".count)) }
        if let name, name != "duration", let definition = Self.definition(name) {
            self.path = name
            self.schema = definition
        } else {
            self.path = path
            self.schema = schema
        }
    }

    private static func definition(_ name: String) -> JSON? { definitions?[name] }

    /// The keys of a mapping, in the order of the schema.
    var keys: [Key] {
        guard let first = schema["properties"]?.members?.first else { return [] }
        // Forms of one value have the same path.
        let name = "\(path)/\(first.name)"
        if let known = Self.known.withLock({ $0[name] }) { return known }
        let keys = readKeys
        Self.known.withLock { $0[name] = keys }
        return keys
    }

    private static let known = Mutex<[String: [Key]]>([:])

    private var readKeys: [Key] {
        let required = ["required", "requiredUnlessShared"].flatMap { schema[$0]?.array ?? [] }.compactMap(\.string)
        let alternatives = alternatives.flatMap(\.self)
        return (schema["properties"]?.members ?? []).map { member in
            let path = path.isEmpty ? member.name : "\(path).\(member.name)"
            return Key(
                name: member.name, path: path, place: SchemaPlace(path, member.value),
                isRequired: required.contains(member.name), isAlternative: alternatives.contains(member.name))
        }
    }

    /// Groups of keys of which a mapping has exactly one.
    var alternatives: [[String]] {
        let groups = [schema["oneOf"], schema["oneOfUnlessShared"]].compactMap { $0?.array }
        return groups.map { group in group.compactMap { $0["required"]?.array?.first?.string } }
    }

    /// The values of a mapping whose keys are names; nil for another place.
    var values: SchemaPlace? {
        guard let values = schema["additionalProperties"], values.members != nil else { return nil }
        return SchemaPlace("\(path).*", values)
    }

    /// The elements of a list; nil for another place.
    var elements: SchemaPlace? { schema["items"].map { SchemaPlace("\(path)[]", $0) } }

    /// The forms that a value may have, if there are several.
    var forms: [SchemaPlace] { (schema["anyOf"]?.array ?? []).map { SchemaPlace(path, $0) } }

    /// The names of the JSON types.
    var types: [String] {
        if let type = schema["type"]?.string { return [type] }
        return schema["type"]?.array?.compactMap(\.string) ?? []
    }

    /// The form that a value has.
    func form(of value: JSON) -> SchemaPlace {
        guard !forms.isEmpty else { return self }
        let names = value.members?.map(\.name)
        return forms.first { form in
            guard let names else { return value.array != nil && form.elements != nil }
            let known = form.keys.map(\.name)
            return !known.isEmpty && names.allSatisfy { known.contains($0) }
        } ?? self
    }

    /// All keys that policies can have, without those below keys that are left out.
    static func keys(without isLeftOut: (Key) -> Bool) -> [Key] {
        var found: [Key] = []
        var seen: Set<String> = []
        func visit(_ place: SchemaPlace) {
            for key in place.keys where seen.insert(key.path).inserted {
                guard !isLeftOut(key) else { continue }
                found.append(key)
                visit(key.place)
            }
            for inner in place.forms + [place.values, place.elements].compactMap(\.self) { visit(inner) }
        }
        visit(root)
        return found
    }

    /// The keys on the shortest way to a key, with the key itself; empty where there is none.
    static func way(to path: String) -> Set<String> {
        var waiting: [(place: SchemaPlace, way: [String])] = [(root, [])]
        var seen: Set<String> = []
        while !waiting.isEmpty {
            let (place, way) = waiting.removeFirst()
            for key in place.keys where seen.insert(key.path).inserted {
                if key.path == path { return Set(way + [path]) }
                waiting.append((key.place, way + [key.path]))
            }
            for inner in place.forms + [place.values, place.elements].compactMap(\.self) {
                waiting.append((inner, way))
            }
        }
        return []
    }
}
