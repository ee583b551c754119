import AssayCore
import Testing

@testable import AssayCommand

/// Clients are generated from these schemas: one that is stricter than the server refuses its own user's requests.
@Suite("Schemas of messages")
struct OpenAPISchemaTests {
    private static let inner: MessageShape = [.required("id", .text), .optional("isOn", .boolean)]

    @Test(
        "Each kind of field has its own schema",
        arguments: [
            (.text, ["type": "string"]), (.boolean, ["type": "boolean"]),
            (.textOfLength(8...64), ["type": "string", "minLength": 8, "maxLength": 64]),
            (.integer(0...1000), ["type": "integer", "minimum": 0, "maximum": 1000]),
            (.integer(.min ... .max), ["type": "integer", "minimum": .integer(.min), "maximum": .integer(.max)]),
            (.timestamp, ["type": "string", "format": "date-time"]),
            (.choice(["OFF", "ENFORCED"]), ["type": "string", "enum": ["OFF", "ENFORCED"]]),
            (.list(.text, atMost: 3), ["type": "array", "items": ["type": "string"], "maxItems": 3]),
            (.list(.boolean, atMost: .max), ["type": "array", "items": ["type": "boolean"]]),
        ] as [(MessageField.Kind, JSON)])
    func kinds(_ kind: MessageField.Kind, _ schema: JSON) {
        #expect(OpenAPISchema.of(kind) == schema)
    }

    @Test("A request may have further fields at every depth, and a reply has them only where its shape is open")
    func openness() {
        let shape: MessageShape = [
            .required("one", .message(Self.inner)), .optional("many", .list(.message(Self.inner), atMost: 2)),
        ]
        let request = OpenAPISchema.request(shape)
        #expect(request["additionalProperties"] == nil)
        #expect(request["properties"]?["one"]?["additionalProperties"] == nil)
        let reply = OpenAPISchema.reply(shape)
        #expect(reply["additionalProperties"] == false)
        #expect(reply["properties"]?["one"]?["additionalProperties"] == false)
        #expect(reply["properties"]?["many"]?["items"]?["additionalProperties"] == false)
        #expect(reply["properties"]?["many"]?["maxItems"] == 2)
        let open = OpenAPISchema.reply(MessageShape([.optional("one", .message(Self.inner))], isOpen: true))
        #expect(open["additionalProperties"] == nil)
        #expect(open["properties"]?["one"]?["additionalProperties"] == false)
    }

    @Test("Only what must be there is required, in the order of the shape")
    func required() {
        let shape: MessageShape = [.required("b", .text), .optional("c", .text), .required("a", .text)]
        #expect(OpenAPISchema.request(shape)["required"] == ["b", "a"])
        #expect(OpenAPISchema.request([.optional("c", .text)])["required"] == nil)
        #expect(OpenAPISchema.reply([]) == ["type": "object", "properties": [:], "additionalProperties": false])
    }

    private func matches(_ kind: MessageField.Kind, _ text: String) throws -> Bool {
        let pattern = try #require(OpenAPISchema.of(kind)["pattern"]?.string)
        return try text.contains(Regex(pattern))
    }

    @Test(
        "A duration that the server reads is one by the schema, and one that it refuses is none",
        arguments: [
            "3600s", "0s", "1.5s", "3.000000001s", "315576000000s", "3600", "s", "-1s", ".5s", "1.s", "1.0000000001s",
            "1e3s", "1m", "9999999999999s", " 1s", "+1s",
        ])
    func durations(_ text: String) throws {
        let isRead = (try? RequestFields(["ttl": .string(text)]).duration("ttl")) != nil
        #expect(try matches(.duration, text) == isRead)
    }

    @Test(
        "A field mask that the server reads is one by the schema",
        arguments: [
            "*", "displayName", "display_name", "displayName,token", "riskAnalysis.minValidScore",
            "name,risk_analysis.min_valid_score",
        ])
    func masks(_ text: String) throws {
        _ = try FieldMask(text)
        #expect(try matches(.fieldMask, text))
    }

    @Test(
        "What is no list of names is no field mask by the schema either", arguments: ["", ",", "a,", ",a", "a b", "é"])
    func noMasks(_ text: String) throws {
        #expect(throws: InvalidRequest.self) { try FieldMask(text) }
        #expect(try !matches(.fieldMask, text))
    }

    @Test(
        "Bytes in either alphabet, padded or not, are bytes by the schema", arguments: ["++//", "--__", "AQ==", "AQ"])
    func bytes(_ text: String) throws {
        #expect(try RequestFields(["a": .string(text)]).bytes("a").isEmpty == false)
        #expect(try matches(.bytes, text))
    }
}
