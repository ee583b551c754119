import AssayCore
import AssayTestSupport

/// A random set of policies, as the tree of its one file, which can be changed at random.
struct RandomPolicies: Sendable {
    private(set) var tree: JSON

    init(_ values: inout RandomValues) {
        values.scope = RandomValues.Scope()
        values.scope.hasProfiles =
            values.random.happens(onceIn: 4) || !values.always.isDisjoint(with: ["profiles", "app.profile"])
        tree = values.mapping(.root) ?? [:]
    }

    /// The file: JSON, which is YAML, with the larger parts on lines of their own.
    var text: String { Self.text(tree, 0) + "\n" }

    private static func text(_ value: JSON, _ level: Int) -> String {
        let indent = String(repeating: " ", count: level + 1)
        if level < 8, let members = value.members, !members.isEmpty {
            let lines = members.map { member in
                "\(indent)\(text(JSON.string(member.name), 9)): \(text(member.value, level + 1))"
            }
            let isShort = lines.allSatisfy { !$0.contains("\n") } && lines.joined().count < 100
            return isShort
                ? "{\(lines.map { $0.dropFirst(level + 1) }.joined(separator: ", "))}"
                : "{\n\(lines.joined(separator: ",\n"))}"
        }
        if level < 8, let elements = value.array, !elements.isEmpty {
            let lines = elements.map { "\(indent)\(text($0, level + 1))" }
            let isShort = lines.allSatisfy { !$0.contains("\n") } && lines.joined().count < 100
            return isShort
                ? "[\(lines.map { $0.dropFirst(level + 1) }.joined(separator: ", "))]"
                : "[\n\(lines.joined(separator: ",\n"))]"
        }
        return String(decoding: value.encoded, as: UTF8.self)
    }

    /// Keys that are never changed: without them, or with others, all would be about other things.
    private static let fixed = [
        "version", "tokens", "tokens.algorithm", "capture", "capture.public_key", "callers", "projects",
        "project.number", "project.id", "project.apps", "app.id", "oauth_client.id", "oauth_client.app",
        "project_addition.project",
    ]

    /// Changes one key at random: it gets another value, or is added or removed.
    mutating func change(_ values: inout RandomValues) {
        var sites = 0
        // What goes together with others is changed as a whole.
        let count = { (key: SchemaPlace.Key, value: JSON?) in
            !Self.fixed.contains(key.path) && !RandomValues.isLeftOut(key.path) && !Self.isComparison(key.path)
                && (!key.isAlternative || value != nil)
        }
        _ = values.changing(tree) { _, key, value in
            if count(key, value) { sites += 1 }
            return .keep
        }
        var isChanged = false
        for _ in 0..<32 where sites > 0 && !isChanged {
            isChanged = change(at: Int.random(in: 0..<sites, using: &values.random), of: count, &values)
        }
    }

    /// - Returns: false for a key that is rarely written, and is not there.
    private mutating func change(
        at index: Int, of isSite: (SchemaPlace.Key, JSON?) -> Bool, _ values: inout RandomValues
    ) -> Bool {
        var index = index
        var isChanged = false
        tree = values.changing(tree) { values, key, value in
            guard isSite(key, value) else { return .keep }
            defer { index -= 1 }
            guard index == 0, value != nil || values.happens(key.path) else { return .keep }
            isChanged = true
            if value != nil, !key.isRequired, !key.isAlternative, values.random.happens(onceIn: 2) { return .remove }
            return values.value(of: key).map { .put($0) } ?? .keep
        }
        return isChanged
    }

    /// Whether a key is that of a comparison of a fact.
    private static func isComparison(_ path: String) -> Bool {
        path.hasPrefix("rule.when.*.") || path.hasPrefix("deny_entry.*.")
    }

    /// Adds an entry to the deny list.
    mutating func deny(_ entry: JSON) {
        tree = tree.with("deny", .array((tree["deny"]?.array ?? []) + [entry]))
    }

    /// The same policies without a key, or with another value of one that is required.
    func without(_ path: String, _ values: inout RandomValues) -> RandomPolicies {
        var policies = self
        policies.tree = values.changing(tree) { values, key, value in
            guard key.path == path, let value else { return .keep }
            let needsValue = key.isRequired || key.isAlternative || Self.isComparison(path)
            guard needsValue || key.name == "original_request" else { return .remove }
            if Self.isComparison(path) { return .put(values.otherOperand(than: value)) }
            for _ in 0..<8 {
                if let other = values.value(of: key), other != value { return .put(other) }
            }
            return .keep
        }
        return policies
    }
}
