public import AssayCore
public import AssayEngine
internal import AssayKit
internal import AssayPolicy

extension Registry {
    /// The JSON Schema (2020-12) of files with tests of policies, for completion and checks in editors.
    ///
    /// - Parameter simulators: what tests with `device` can use.
    public func testSchema(simulators: [any EvidenceSimulator]) -> JSON {
        PolicyTestSchema(registry: self, simulators: simulators).json
    }
}

/// The JSON Schema of files with tests.
private struct PolicyTestSchema {
    let registry: Registry
    let simulators: [any EvidenceSimulator]

    var json: JSON {
        [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Assay policy tests",
            "description": "A file with tests of policies, `*_test.yaml` beside them; `assay policy test` runs it.",
            "type": "object",
            "properties": [
                "version": ["description": "The version of this format.", "const": 1],
                "defaults": Self.mapping([
                    ("app", Self.described("The app of tests that name none.", app)),
                    ("provider", Self.described("The provider of tests that name none.", provider)),
                    ("at", Self.described("The time of tests that name none.", Self.instant)),
                ]),
                "tests": [
                    "description": "The tests, each with a name of its own.", "type": "array",
                    "items": ["$ref": "#/$defs/test"],
                ],
            ],
            "required": ["tests"],
            "additionalProperties": false,
            "$defs": .object(
                [
                    JSONMember("test", test), JSONMember("expect", expect),
                    JSONMember("duration", ["type": "string", "examples": ["1h", "30m", "1h30m", "7d"]]),
                ] + providers),
        ]
    }

    private var test: JSON {
        let properties: [(String, JSON)] = [
            (
                "name",
                Self.described(
                    "What must be true, in words.", ["type": "string", "minLength": 1, "maxLength": 200])
            ),
            ("app", Self.described("The app ID or the OAuth client ID, or the resource's name.", app)),
            (
                "provider",
                Self.described("The provider of the evidence; it may be left out if the app has only one.", provider)
            ),
            (
                "facts",
                Self.described(
                    "What a provider learned from evidence: the rules are judged.",
                    Self.anyOf(registry.descriptors.map { "facts_\($0.name)" }))
            ),
            (
                "device",
                Self.described("A simulated device: its evidence is made and verified.", ofSimulators("device"))
            ),
            (
                "method",
                Self.described(
                    "The method that is called. With `device` the provider's first exchange when absent.",
                    ["type": "string"])
            ),
            ("change", Self.described("What of the evidence is changed, and how.", ofSimulators("change"))),
            ("at", Self.described("When the evidence is sent; now when absent.", Self.instant)),
            ("limited_use", Self.described("Whether a limited-use token is asked for.", ["type": "boolean"])),
            ("decision", Self.described("A decision of an audit file: its facts are judged again.", decision)),
            (
                "caller",
                Self.described(
                    "The name of a caller of the policies: its permissions are judged.", ["type": "string"])
            ),
            ("resource", Self.described("The resource that the caller calls the method on.", ["type": "string"])),
            (
                "request",
                Self.described(
                    "A request of a proxy's client: the demand of the backend and of its route is judged.",
                    ["type": "string", "examples": ["POST /payments/1"]])
            ),
            (
                "backend",
                Self.described("The backend of the request; it may be left out if there is one.", ["type": "string"])
            ),
            (
                "token",
                Self.described(
                    "The token of the request; it has none when absent.",
                    Self.mapping(
                        [
                            ("app", Self.described("The app of the token.", app)),
                            ("provider", Self.described("The provider that it was issued by.", provider)),
                            ("limited_use", Self.described("Whether it can be used once.", ["type": "boolean"])),
                            ("age", Self.described("How old it is; new when absent.", ["$ref": "#/$defs/duration"])),
                        ], required: ["app"]))
            ),
            ("expect", Self.described("What must be true.", ["$ref": "#/$defs/expect"])),
        ]
        var members = Self.mapping(properties, required: ["name", "expect"]).members ?? []
        members.append(
            JSONMember("oneOf", .array(StatedCase.Form.allCases.map { ["required": [.string($0.rawValue)]] })))
        members.append(JSONMember("allOf", .array(registry.descriptors.map { conditional($0.name) })))
        return .object(members)
    }

    /// What can be said in a test that leaves its provider to the defaults of the file.
    private func ofSimulators(_ part: String) -> JSON {
        Self.anyOf(simulators.map(\.provider).sortedExactly().map { "\(part)_\($0)" })
    }

    /// The keys of a test that depend on its provider.
    private func conditional(_ name: String) -> JSON {
        var properties = [JSONMember("facts", ["$ref": .string("#/$defs/facts_\(name)")])]
        if simulators.contains(where: { $0.provider.isExactly(name) }) {
            properties.append(JSONMember("device", ["$ref": .string("#/$defs/device_\(name)")]))
            properties.append(JSONMember("change", ["$ref": .string("#/$defs/change_\(name)")]))
        }
        return [
            "if": ["properties": ["provider": ["const": .string(name)]], "required": ["provider"]],
            "then": ["properties": .object(properties)],
        ]
    }

    private var providers: [JSONMember] {
        registry.descriptors.map { descriptor in
            JSONMember(
                "facts_\(descriptor.name)",
                Self.mapping(descriptor.facts.map { ($0.text, Self.value(of: $0.type)) }))
        }
            + simulators.sorted { $0.provider.precedesExactly($1.provider) }.flatMap { simulator in
                [
                    JSONMember(
                        "device_\(simulator.provider)",
                        Self.mapping(
                            simulator.properties.map {
                                ($0.name.text, Self.described($0.summary, Self.value(of: $0.name.type)))
                            })),
                    JSONMember(
                        "change_\(simulator.provider)",
                        Self.mapping(
                            simulator.changes.map { change in
                                let ways: JSON = ["enum": .array(change.ways.map { .string($0) })]
                                return (change.name, Self.described(change.summary, ways))
                            })),
                ]
            }
    }

    private var decision: JSON {
        Self.mapping(
            [
                (
                    "record",
                    Self.described(
                        "The audit file; a relative path begins in the folder of the test.", ["type": "string"])
                ),
                ("id", Self.described("The identifier of the decision.", ["type": "string"])),
            ], required: ["record", "id"])
    }

    private var expect: JSON {
        let names: JSON = ["type": "array", "items": ["type": "string"]]
        return Self.mapping([
            ("verdict", Self.described("What becomes of the evidence.", Self.words(PolicyFinding.Verdict.self))),
            (
                "permission",
                Self.described("Whether the caller may call.", Self.words(PolicyFinding.Permission.self))
            ),
            (
                "reason",
                Self.described(
                    "Why the evidence is refused.",
                    ["enum": .array(registry.reasons.map { .string($0.code) })])
            ),
            ("rule", Self.described("The rule that decides; `null` for none.", ["type": ["string", "null"]])),
            ("marks", Self.described("The rules that mark the evidence, and no others.", names)),
            (
                "would_refuse",
                Self.described(
                    "What is in shadow and would refuse it, and nothing else: rules, and `PROVIDER:REASON` for settings in `shadow`.",
                    names)
            ),
            (
                "token",
                Self.described(
                    "The token that the evidence gets.",
                    Self.mapping([
                        ("ttl", Self.described("How long it lives.", ["$ref": "#/$defs/duration"])),
                        ("limited_use", Self.described("Whether it can be used once.", ["type": "boolean"])),
                        (
                            "claims",
                            Self.described("Some of its claims; `null` for one that it must not have.", Self.anyMapping)
                        ),
                    ]))
            ),
        ])
    }

    private var app: JSON { ["type": "string", "examples": ["1:1234567890:ios:321abc456def7890"]] }

    private var provider: JSON { ["enum": .array(registry.descriptors.map { .string($0.name) })] }

    private static func anyOf(_ definitions: [String]) -> JSON {
        guard !definitions.isEmpty else { return anyMapping }
        return ["anyOf": .array(definitions.map { ["$ref": .string("#/$defs/\($0)")] })]
    }

    private static let anyMapping: JSON = ["type": ["object", "null"]]
    private static let instant: JSON = ["type": "string", "examples": ["2027-01-01T00:00:00Z"]]

    private static func words<Word: RawRepresentable & CaseIterable>(_: Word.Type) -> JSON
    where Word.RawValue == String {
        ["enum": .array(Word.allCases.map { .string($0.rawValue) })]
    }

    private static func described(_ text: String, _ schema: JSON) -> JSON {
        .object([JSONMember("description", .string(text))] + (schema.members ?? []))
    }

    private static func mapping(_ properties: [(String, JSON)], required: [String] = []) -> JSON {
        var members = [
            JSONMember("type", required.isEmpty ? ["object", "null"] : "object"),
            JSONMember("properties", .object(properties.map { JSONMember($0.0, $0.1) })),
        ]
        if !required.isEmpty { members.append(JSONMember("required", .array(required.map { .string($0) }))) }
        return .object(members + [JSONMember("additionalProperties", false)])
    }

    private static func value(of type: FactType) -> JSON {
        switch type {
        case .text, .version, .digest: ["type": ["string", "number", "null"]]
        case .words(let words): ["enum": .array(words.map { .string($0.string) } + [.null])]
        case .integer: ["type": ["integer", "null"]]
        case .bool: ["type": ["boolean", "null"]]
        case .instant: ["type": ["string", "null"], "examples": ["2027-01-01T00:00:00Z"]]
        case .duration: ["anyOf": [["$ref": "#/$defs/duration"], ["type": "null"]]]
        }
    }
}
