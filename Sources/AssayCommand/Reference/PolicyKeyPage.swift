internal import AssayCore
internal import AssayEngine
internal import AssayPolicyTools

/// Every key of a policy: for `assay policy keys`.
///
/// It is read from the JSON Schema of policies, which is made from the types that policies are decoded into.
struct PolicyKeyPage {
    /// One key.
    struct Key {
        /// From the top of the file: `projects[].apps[].id`.
        let path: String
        let kind: String
        /// `required`, what holds when it is absent, or empty.
        let standard: String
        let meaning: String
    }

    /// The keys of one mapping, and of those within it that have no section of their own.
    struct Section {
        let path: String
        var meaning: String
        var keys: [Key]
    }

    let sections: [Section]

    init(_ plugins: Registry) {
        var reader = SchemaReader(plugins.policySchema)
        reader.readAll()
        sections = reader.sections
    }

    /// The keys with what they mean, one a line.
    var lines: [String] {
        let keys = sections.flatMap(\.keys)
        let width = keys.map(\.path.count).max() ?? 0
        return keys.map { key in
            key.path + String(repeating: " ", count: width - key.path.count + 2) + key.meaning
        }
    }

    /// The page *Policy keys* of the documentation.
    var markdown: String {
        let introduction = """
            All keys that a policy file can have; each key follows the key in the heading of its table. `[]` is each \
            element of a list, and `NAME` is a name that the policy chooses. *required* keys must be present in their \
            mapping. A duration is written `30s`, `15m`, `1h30m` or `7d`. [Write policies](WritePolicies.md) explains \
            the sections, with examples.
            """
        let parts = sections.flatMap { section in
            [
                "## \(section.path.isEmpty ? "The file" : Markdown.code(section.path))", section.meaning,
                Markdown.table(
                    ["key", "kind", "default", "meaning"],
                    section.keys.map { [Markdown.code($0.path), $0.kind, $0.standard, $0.meaning] }),
            ].filter { !$0.isEmpty }
        }
        return Markdown.page(
            "Policy keys", "Look up the meaning of a policy key, and its possible values.",
            by: "\(AssayProgram.current.name) policy keys --markdown", [introduction] + parts)
    }
}

/// Reads sections out of a JSON Schema.
private struct SchemaReader {
    private(set) var sections: [PolicyKeyPage.Section] = []
    private let root: JSON
    /// Where each definition is described.
    private var places: [ExactText: String] = [:]
    private var waiting: [(path: String, schema: JSON)] = []

    init(_ root: JSON) {
        self.root = root
        waiting = [("", root)]
    }

    mutating func readAll() {
        while !waiting.isEmpty {
            // Where an app has a key is told before where it can be shared.
            let next = waiting.firstIndex { !Self.isShared($0.path) } ?? 0
            let (path, schema) = waiting.remove(at: next)
            var section = PolicyKeyPage.Section(path: path, meaning: "", keys: [])
            if !path.isEmpty { section.meaning = schema["description"]?.string ?? "" }
            read(schema, relative: "", in: path, &section.keys)
            if !section.keys.isEmpty { sections.append(section) }
        }
    }

    /// Whether a path leads to what several apps share.
    private static func isShared(_ path: String) -> Bool {
        guard let first = path.split(onASCII: ".", maxSplits: 1).first else { return false }
        return !["projects[]", "callers", "tokens", "capture"].contains(exactly: first)
    }

    /// Adds the keys of a mapping to a section.
    private mutating func read(
        _ schema: JSON, relative: String, in path: String, _ keys: inout [PolicyKeyPage.Key]
    ) {
        // What a profile can have is required of the two together.
        let required = ["required", "requiredUnlessShared"].flatMap { schema[$0]?.array ?? [] }.compactMap(\.string)
        let choices = ["oneOf", "oneOfUnlessShared"].flatMap { schema[$0]?.array ?? [] }
            .compactMap { $0["required"]?.array?.first?.string }
        for member in schema["properties"]?.members ?? [] {
            let name = relative + member.name
            let value = member.value
            var standard = value["default"].map(Self.written) ?? ""
            if required.contains(exactly: member.name) { standard = "required" }
            if choices.contains(exactly: member.name) { standard = "required, or \(Self.others(choices, member.name))" }
            let (element, suffix) = Self.element(of: value)
            let inner = element["anyOf"]?.array?.first ?? element
            let full = (path.isEmpty ? "" : "\(path).") + name + suffix
            let kind: String
            var shown = ""
            if let definition = inner["$ref"]?.string.flatMap(Self.definition),
                let schema = root["$defs"]?[definition],
                schema["properties"] != nil || schema["additionalProperties"] != nil
            {
                kind = suffix.isEmpty ? "mapping" : suffix.isExactly("[]") ? "list of mappings" : "mapping by names"
                let shadowed = "shadow_"
                let home =
                    definition.starts(withExactly: shadowed)
                    ? "provider_\(definition.dropFirst(shadowed.count))" : definition
                if let place = places[home] {
                    shown = place.isExactly(full) ? "" : " The keys are those of `\(place)`."
                } else {
                    places[definition] = full
                    waiting.append((full, schema))
                }
            } else {
                kind = Self.kind(of: value)
            }
            keys.append(
                PolicyKeyPage.Key(
                    path: name, kind: kind, standard: standard, meaning: (value["description"]?.string ?? "") + shown))
            if inner["properties"] != nil {
                read(inner, relative: name + suffix + ".", in: path, &keys)
            }
        }
    }

    /// What a list or a mapping of names consists of, and how that is written behind its key.
    private static func element(of schema: JSON) -> (JSON, suffix: String) {
        if let items = schema["items"] { return (items, "[]") }
        if let value = schema["additionalProperties"], value.members != nil { return (value, ".NAME") }
        return (schema, "")
    }

    private static func definition(_ reference: String) -> String? {
        let start = "#/$defs/"
        return reference.starts(withExactly: start) ? String(reference.dropFirst(start.count)) : nil
    }

    private static func others(_ choices: [String], _ name: String) -> String {
        choices.filter { !$0.isExactly(name) }.map { Markdown.code($0) }.joined(separator: " or ")
    }

    /// A value as a policy has it.
    private static func written(_ value: JSON) -> String {
        if let text = value.string { return Markdown.code(text) }
        if let list = value.array { return Markdown.code("[\(list.map(plain).joined(separator: ", "))]") }
        return Markdown.code(plain(value))
    }

    private static func plain(_ value: JSON) -> String {
        value.string ?? String(decoding: value.encoded, as: UTF8.self)
    }

    private static func kind(of schema: JSON) -> String {
        if let words = schema["enum"]?.array { return words.map(written).joined(separator: " or ") }
        if let only = schema["const"] { return written(only) }
        if let items = schema["items"] {
            return items["properties"] == nil ? "list: \(kind(of: items))" : "list of mappings"
        }
        if schema["properties"] != nil { return "mapping" }
        if let value = schema["additionalProperties"], value.members != nil {
            return value["properties"] == nil && value["$ref"] == nil
                ? "mapping of names: \(kind(of: value))" : "mapping by names"
        }
        if let reference = schema["$ref"]?.string.flatMap(definition) { return reference }
        let types =
            schema["type"].map { type in type.string.map { [$0] } ?? (type.array ?? []).compactMap(\.string) } ?? []
        if types.contains(exactly: "string") { return "text" }
        if types.contains(exactly: "integer") {
            guard let low = schema["minimum"], let high = schema["maximum"] else { return "whole number" }
            return "whole number, \(plain(low)) to \(plain(high))"
        }
        if types.contains(exactly: "number") { return "number" }
        if types.contains(exactly: "boolean") { return "`true` or `false`" }
        return "any"
    }
}
