internal import AssayCore
internal import AssayYAML

/// The JSON Schema of the input of a `Decodable` type.
enum ShapeSchema {
    /// Types may be recursive.
    private static let deepest = 12

    /// - Parameters:
    ///   - description: the meaning of the key of the value.
    ///   - overrides: schemas of keys that the type alone cannot tell; their descriptions remain.
    static func members(
        of shape: ValueShape, _ description: PolicyKey? = nil, overriding overrides: [ExactText: JSON] = [:],
        replacement: [JSONMember]? = nil, level: Int = 0
    ) -> [JSONMember] {
        var members: [JSONMember] = []
        if let text = words(shape, description) { members.append(JSONMember("description", .string(text))) }
        members += replacement ?? constraints(of: shape, rule: description?.rule, overriding: overrides, level: level)
        if let standard = description?.standard { members.append(JSONMember("default", standard)) }
        let examples = examples(shape, description)
        if !examples.isEmpty { members.append(JSONMember("examples", .array(examples))) }
        return members
    }

    private static func words(_ shape: ValueShape, _ description: PolicyKey?) -> String? {
        guard let text = description?.text else {
            if case .form(let form) = shape { return form.summary }
            return nil
        }
        let development = description?.development.words.map { " \($0)" } ?? ""
        guard case .durations(let range)? = description?.rule else { return text + development }
        return "\(text) From \(DurationText.text(range.lowerBound)) to \(DurationText.text(range.upperBound))."
            + development
    }

    private static func examples(_ shape: ValueShape, _ description: PolicyKey?) -> [JSON] {
        if let description, !description.examples.isEmpty { return description.examples }
        if case .form(let form) = shape { return form.examples.map { .string($0) } }
        return []
    }

    private static func constraints(
        of shape: ValueShape, rule: PolicyKey.Rule?, overriding overrides: [ExactText: JSON], level: Int
    ) -> [JSONMember] {
        guard level < deepest else { return [] }
        func inner(_ type: any Decodable.Type) -> JSON {
            .object(members(of: ValueShape(of: type), level: level + 1))
        }
        switch shape {
        case .text: return text(rule)
        case .form(let form): return text(.pattern(form.pattern))
        case .choice(let names): return [JSONMember("enum", .array(names.map { .string($0) }))]
        case .bool: return [JSONMember("type", "boolean")]
        case .number:
            guard case .range(let range) = rule else { return [JSONMember("type", "number")] }
            return [
                JSONMember("type", "number"), JSONMember("minimum", .integer(Int64(range.lowerBound))),
                JSONMember("maximum", .integer(Int64(range.upperBound))),
            ]
        case .integer:
            switch rule {
            case .range(let range):
                return [
                    JSONMember("type", "integer"), JSONMember("minimum", .integer(Int64(range.lowerBound))),
                    JSONMember("maximum", .integer(Int64(range.upperBound))),
                ]
            case .oneOf(let numbers):
                return [JSONMember("enum", .array(numbers.map { .integer(Int64($0)) }))]
            default: return [JSONMember("type", "integer")]
            }
        case .duration:
            return duration(rule)
        case .list(let element, let isSet):
            var list = [JSONMember("type", "array"), JSONMember("items", inner(element))]
            if isSet { list.append(JSONMember("uniqueItems", true)) }
            if rule == .notEmpty { list.append(JSONMember("minItems", 1)) }
            return list
        case .dictionary(let value):
            return [JSONMember("type", ["object", "null"]), JSONMember("additionalProperties", inner(value))]
        case .mapping(let shape):
            let properties = shape.fields.map { field in
                JSONMember(
                    field.key,
                    .object(
                        members(
                            of: ValueShape(of: field.type), shape.descriptions[field.key],
                            replacement: overrides[field.key]?.members, level: level + 1)))
            }
            return object(
                properties, required: shape.fields.filter(\.isRequired).map(\.key), alternatives: shape.alternatives)
        case .declared(let shape):
            return object(
                shape.keys.map { key in
                    JSONMember(
                        key.name, .object([JSONMember("description", .string(key.summary))] + members(of: key.kind)))
                }, required: shape.keys.filter(\.isRequired).map(\.name))
        case .opaque: return []
        }
    }

    private static func members(of kind: DeclaredShape.Kind) -> [JSONMember] {
        switch kind {
        case .text: constraints(of: .text, rule: nil, overriding: [:], level: 0)
        case .boolean: constraints(of: .bool, rule: nil, overriding: [:], level: 0)
        case .duration: constraints(of: .duration, rule: nil, overriding: [:], level: 0)
        case .secret: members(of: ValueShape(of: SecretReference.self))
        case .word(let words): constraints(of: .choice(words), rule: nil, overriding: [:], level: 0)
        case .integer(let range) where range == Int64.min...Int64.max:
            constraints(of: .integer, rule: nil, overriding: [:], level: 0)
        case .integer(let range):
            [
                JSONMember("type", "integer"), JSONMember("minimum", .integer(range.lowerBound)),
                JSONMember("maximum", .integer(range.upperBound)),
            ]
        case .list(let element):
            [JSONMember("type", "array"), JSONMember("items", .object(members(of: element)))]
        case .mapping(let shape): constraints(of: .declared(shape), rule: nil, overriding: [:], level: 0)
        }
    }

    /// A mapping with certain keys and no others.
    ///
    /// Without a description of the keys, the mapping is empty.
    static func object(
        _ properties: [JSONMember], required: [String] = [], alternatives: [[String]] = []
    ) -> [JSONMember] {
        let mayBeNull = required.isEmpty && alternatives.isEmpty
        var members = [
            JSONMember("type", mayBeNull ? ["object", "null"] : "object"),
            JSONMember("properties", .object(properties)),
        ]
        if !required.isEmpty { members.append(JSONMember("required", .array(required.map { .string($0) }))) }
        let choices = alternatives.map { keys in
            JSON.object([JSONMember("oneOf", .array(keys.map { ["required": [.string($0)]] }))])
        }
        if choices.count == 1 {
            members += choices[0].members ?? []
        } else if !choices.isEmpty {
            members.append(JSONMember("allOf", .array(choices)))
        }
        members.append(JSONMember("additionalProperties", false))
        return members
    }

    /// Text; a number without quotes is text too, if the rule allows digits.
    static func text(_ rule: PolicyKey.Rule?) -> [JSONMember] {
        switch rule {
        case .pattern(let pattern):
            let form = JSONMember("pattern", .string(pattern))
            guard let expression = try? Regex(pattern), expression.matches("1234567890") else {
                return [JSONMember("type", "string"), form]
            }
            // No pattern judges a number.
            let least: Int64? = expression.matches("-1") ? nil : expression.matches("0") ? 0 : 1
            return [JSONMember("type", ["string", "integer"]), form]
                + (least.map { [JSONMember("minimum", .integer($0))] } ?? [])
        case .length(let range):
            return [
                JSONMember("type", ["string", "number"]), JSONMember("minLength", .integer(Int64(range.lowerBound))),
                JSONMember("maxLength", .integer(Int64(range.upperBound))),
            ]
        default:
            return [JSONMember("type", ["string", "number"])]
        }
    }

    /// A duration.
    ///
    /// JSON Schema cannot compare durations: the bounds are for other readers, such as our own tests.
    static func duration(_ rule: PolicyKey.Rule?) -> [JSONMember] {
        var members = [JSONMember("$ref", "#/$defs/duration")]
        if case .durations(let range)? = rule {
            members.append(JSONMember("durationMinimum", .string(DurationText.text(range.lowerBound))))
            members.append(JSONMember("durationMaximum", .string(DurationText.text(range.upperBound))))
        }
        return members
    }
}

extension Regex<AnyRegexOutput> {
    fileprivate func matches(_ text: String) -> Bool { (try? wholeMatch(in: text)) != nil }
}

extension PolicyKey.Development {
    /// What a server for production refuses; nil for URLs of this machine.
    fileprivate var words: String? {
        switch self {
        case .localURLs, .none: nil
        case .anyValue: "Refused by a server for production."
        case .words(let words):
            "A server for production refuses \(words.map { "`\($0)`" }.joined(separator: ", "))."
        }
    }
}
