import AssayCore
import AssayTestSupport

/// Makes values at random for any place of the schema of policies.
///
/// What the schema alone cannot tell is in ``hands``, ``chances`` and ``leftOut``.
struct RandomValues {
    typealias Hand = @Sendable (inout RandomValues, SchemaPlace) -> JSON?

    /// What a value is within, which decides about the names that it may have.
    struct Scope {
        var hasProfiles = false
        var project = 1
        /// The apps and OAuth clients of the project.
        var apps: [String] = []
        var hasClient = false
        var hasAddition = false
        /// The providers of the app.
        var providers: [String] = []
        var caller = ""
        var token = 0
    }

    var random: SplitMix
    var scope = Scope()
    /// The keys that every mapping has which can have them.
    let always: Set<String>
    /// The keys that were written so far.
    var written: Set<String> = []

    /// - Parameter focus: the path of a key that is written wherever it can be, with all that it is in.
    init(_ random: SplitMix, focus: String? = nil) {
        self.random = random
        always = focus.map { SchemaPlace.way(to: $0) } ?? []
    }

    /// A value of a key; nil where there can be none.
    mutating func value(of key: SchemaPlace.Key) -> JSON? {
        if Self.isLeftOut(key.path) { return nil }
        let value = Self.hand(key.path).map { $0(&self, key.place) } ?? value(at: key.place)
        if value != nil { written.insert(key.path) }
        return value
    }

    /// A value at a place; nil where there can be none.
    mutating func value(at place: SchemaPlace) -> JSON? {
        if let hand = Self.hand(place.path) { return hand(&self, place) }
        return described(place)
    }

    /// A value as the schema describes it.
    mutating func described(_ place: SchemaPlace) -> JSON? {
        let schema = place.schema
        if let constant = schema["const"] { return constant }
        if let words = schema["enum"]?.array, !words.isEmpty { return random.pick(words) }
        if !place.forms.isEmpty { return value(at: random.pick(place.forms)) }
        if schema["$ref"] != nil { return duration(schema) }
        if schema["properties"] != nil || place.values != nil { return mapping(place) }
        if let elements = place.elements { return list(elements) }
        let types = place.types
        if types == ["boolean"] { return .bool(random.happens(onceIn: 2)) }
        if types == ["integer"] || types == ["number"] { return number(schema) }
        if let examples = schema["examples"]?.array, !examples.isEmpty { return random.pick(examples) }
        return types.contains("string") && schema["pattern"] == nil ? .string(random.pick(Self.words)) : nil
    }

    /// A mapping with some of the keys that it can have.
    mutating func mapping(_ place: SchemaPlace, names: [String] = ["one", "two"]) -> JSON? {
        var members: [JSONMember] = []
        let taken = place.alternatives.map { group in
            let possible = group.filter { !Self.isLeftOut("\(place.path).\($0)") }
            let wanted = possible.filter { always.contains("\(place.path).\($0)") }
            return (group: group, one: wanted.first ?? random.pick(possible.isEmpty ? group : possible))
        }
        for key in place.keys {
            let group = taken.first { $0.group.contains(key.name) }
            guard group.map({ $0.one == key.name }) ?? (key.isRequired || happens(key.path)) else { continue }
            if let value = value(of: key) {
                members.append(JSONMember(key.name, value))
            } else if key.isRequired {
                return nil
            }
        }
        if place.keys.isEmpty, let values = place.values {
            for name in names { value(at: values).map { members.append(JSONMember(name, $0)) } }
        }
        return .object(members)
    }

    /// Whether a key that may be absent is there.
    mutating func happens(_ path: String) -> Bool {
        let chance = Self.chance(path)
        let happens = Int.random(in: 0..<12, using: &random) < chance
        return happens || always.contains(path)
    }

    private mutating func list(_ elements: SchemaPlace) -> JSON {
        var found: [JSON] = []
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            if let value = value(at: elements), !found.contains(value) { found.append(value) }
        }
        return .array(found)
    }

    private mutating func number(_ schema: JSON) -> JSON {
        let (least, most) = (schema["minimum"]?.integer ?? 0, schema["maximum"]?.integer ?? 8)
        return .integer(random.pick([least, most, (least + most) / 2, Int64.random(in: least...most, using: &random)]))
    }

    /// A duration within the bounds of the key: the bounds themselves, and some between them.
    private mutating func duration(_ schema: JSON) -> JSON {
        let bounds = [schema["durationMinimum"]?.string, schema["durationMaximum"]?.string].compactMap(\.self)
        let seconds = bounds.compactMap { Self.seconds($0) }
        let between = Self.durations.filter { text in
            guard seconds.count == 2, let value = Self.seconds(text) else { return seconds.isEmpty }
            return (seconds[0]...seconds[1]).contains(value)
        }
        return .string(random.pick(bounds + between))
    }

    static let durations = ["1m", "10m", "1h", "1h30m", "1d"]
    private static let words = ["red", "blue"]

    /// The seconds of a duration as the schema writes it, such as `1h30m`.
    static func seconds(_ text: String) -> Int? {
        var (seconds, number) = (0, 0)
        for character in text {
            if let digit = character.wholeNumberValue {
                number = number * 10 + digit
            } else if let unit = ["d": 86_400, "h": 3600, "m": 60, "s": 1][character] {
                seconds += number * unit
                number = 0
            } else {
                return nil
            }
        }
        return seconds
    }

    // MARK: - What the schema does not tell

    static func isLeftOut(_ path: String) -> Bool { find(path, in: leftOut) != nil }

    static func hand(_ path: String) -> Hand? { find(path, in: hands) }

    private static func chance(_ path: String) -> Int { find(path, in: chances) ?? 3 }

    /// What a table says of a path, or of its end; a `^` before a path stands for its beginning.
    static func find<Value>(_ path: String, in table: [String: Value]) -> Value? {
        if let value = table["^\(path)"] { return value }
        var rest = path[...]
        while !rest.isEmpty {
            if let value = table[String(rest)] { return value }
            guard let dot = rest.firstIndex(of: ".") else { return nil }
            rest = rest[rest.index(after: dot)...]
        }
        return nil
    }
}

// MARK: - Changing what was made

extension RandomValues {
    /// What becomes of one key of a mapping.
    enum Change {
        case keep
        case remove
        case put(JSON)
    }

    /// Looks at every key that each mapping of a value has or could have, and changes what is asked for.
    ///
    /// - Parameter change: gets the key, and its value if it is there.
    mutating func changing(
        _ value: JSON, at place: SchemaPlace = .root,
        _ change: (inout RandomValues, SchemaPlace.Key, JSON?) -> Change
    ) -> JSON {
        let place = place.form(of: value)
        if let elements = value.array {
            guard let inner = place.elements else { return value }
            var result: [JSON] = []
            for element in elements { result.append(changing(element, at: inner, change)) }
            return .array(result)
        }
        guard let members = value.members else { return value }
        enter(place, members)
        let keys = place.keys
        var result: [JSONMember] = []
        for member in members {
            guard let key = keys.first(where: { $0.name == member.name }) else {
                scope.caller = place.values?.path == "caller" ? member.name : scope.caller
                let inner = place.values.map { changing(member.value, at: $0, change) } ?? member.value
                result.append(JSONMember(member.name, inner))
                continue
            }
            switch change(&self, key, member.value) {
            case .remove: break
            case .put(let value): result.append(JSONMember(member.name, value))
            case .keep: result.append(JSONMember(member.name, changing(member.value, at: key.place, change)))
            }
            enter(place, members)
        }
        for key in keys where !members.contains(where: { $0.name == key.name }) {
            if case .put(let value) = change(&self, key, nil) { result.append(JSONMember(key.name, value)) }
        }
        return .object(result)
    }
}
