package import AssayCore
internal import AssayKit
internal import AssayYAML

/// Rules over facts, as JSON Schema.
extension PolicySchema {
    /// A demand on a fact.
    var condition: JSON { Self.condition }

    /// A demand on a fact, wherever it is made.
    package static var condition: JSON {
        let value: JSON = ["type": ["string", "number", "boolean"]]
        let comparisons = Comparison.allCases.map { comparison -> JSONMember in
            switch comparison {
            case .among, .notAmong:
                JSONMember(
                    comparison.rawValue,
                    ["description": .string(comparison.words), "type": "array", "minItems": 1, "items": value])
            case .known:
                JSONMember(comparison.rawValue, ["description": .string(comparison.words), "type": "boolean"])
            default:
                JSONMember(
                    comparison.rawValue,
                    ["description": .string(comparison.words), "type": ["string", "number", "boolean"]])
            }
        }
        return [
            "anyOf": [
                .object(ShapeSchema.object(comparisons)), ["type": ["string", "number", "boolean"]],
                ["type": "array", "minItems": 1, "items": value],
            ]
        ]
    }

    var rule: [JSONMember] {
        ShapeSchema.object(
            [
                text(
                    "name", "The rule's name in records, metrics and tokens.", "^[A-Za-z0-9._@-]{1,64}$",
                    example: "old-ios"),
                JSONMember(
                    "when",
                    [
                        "description": .string(
                            "The demands on facts, all of which must hold: a value, a list of values, or comparisons. Without any, the "
                                + "rule matches all evidence."),
                        "type": ["object", "null"], "additionalProperties": condition,
                        "examples": [["provider": ["not": "debug"]]],
                    ]),
                JSONMember(
                    "then",
                    [
                        "description": "What happens to evidence that the rule matches.",
                        "enum": .array(RulePolicy.Effect.allCases.map { .string($0.rawValue) }),
                    ]),
                JSONMember(
                    "claim",
                    [
                        "description":
                            "Whether tokens of evidence that is marked name the rule, in the claim `assay_mark`.",
                        "type": "boolean", "default": false,
                    ]),
                JSONMember(
                    RuleEnforcement.key,
                    [
                        "description": "With `shadow` the rule is judged and recorded, and changes nothing.",
                        "enum": .array(RuleEnforcement.allCases.map { .string($0.rawValue) }),
                        "default": .string(RuleEnforcement.enforced.rawValue),
                    ]),
            ], required: ["name", "then"])
    }
}
