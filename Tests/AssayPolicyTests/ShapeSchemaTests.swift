import AssayCore
import AssayYAML
import Testing

@testable import AssayPolicy

@Suite("The JSON Schema of a type")
struct ShapeSchemaTests {
    private struct Tree: Decodable {
        let name: String
        let children: [Tree]?
    }

    private func schema(_ type: any Decodable.Type, _ key: PolicyKey? = nil) -> JSON {
        .object(ShapeSchema.members(of: ValueShape(of: type), key))
    }

    @Test(
        "Durations are written as policies write them, without parts of a second",
        arguments: [
            (Duration.zero, "0s"), (.milliseconds(999), "0s"), (.seconds(-5), "0s"), (.seconds(59), "59s"),
            (.seconds(60), "1m"), (.seconds(3661), "1h1m1s"), (.seconds(86_400 * 7), "7d"),
            (.seconds(86_400 + 1), "1d1s"), (.seconds(5400), "1h30m"),
        ])
    func durations(_ duration: Duration, _ text: String) {
        #expect(DurationText.text(duration).isExactly(text))
    }

    @Test("The bounds of a duration are said in words and for programs")
    func bounds() {
        let schema = schema(Duration.self, PolicyKey("How long.", .durations(.seconds(1)...(.seconds(86_400)))))
        #expect(schema["description"] == "How long. From 1s to 1d.")
        #expect(schema["durationMinimum"] == "1s" && schema["durationMaximum"] == "1d")
        #expect(schema["$ref"] == "#/$defs/duration")
    }

    @Test("Text that can be digits may be a number without quotes; other text may not")
    func numbersAsText() {
        #expect(schema(String.self, PolicyKey("x", .pattern("^[0-9]+$")))["type"] == ["string", "integer"])
        #expect(schema(String.self, PolicyKey("x", .pattern("^[a-z]+$")))["type"] == "string")
        // A pattern that nobody can read takes no numbers.
        #expect(schema(String.self, PolicyKey("x", .pattern("^(")))["type"] == "string")
    }

    @Test("Rules become the words of the schema that mean the same")
    func rules() {
        let text = schema(String.self, PolicyKey("x", .length(1...64), standard: "a", examples: ["b"]))
        #expect(text["minLength"] == 1 && text["maxLength"] == 64)
        #expect(text["default"] == "a" && text["examples"] == ["b"])
        let number = schema(Int.self, PolicyKey("x", .range(0...5)))
        #expect(number["minimum"] == 0 && number["maximum"] == 5)
        #expect(schema([String].self, PolicyKey("x", .notEmpty))["minItems"] == 1)
        #expect(schema(Set<String>.self)["uniqueItems"] == true)
        #expect(schema([String: Bool].self)["additionalProperties"] == ["type": "boolean"])
    }

    @Test("A mapping of which every key may be absent may be left empty; one that needs a key may not")
    func absent() {
        #expect(schema(Tree.self)["type"] == "object")
        #expect(schema(Tree.self)["required"] == ["name"])
        #expect(JSON.object(ShapeSchema.object([]))["type"] == ["object", "null"])
    }

    @Test("One choice of keys stands in the mapping itself; of several each has to be met")
    func alternatives() {
        let one = JSON.object(ShapeSchema.object([], alternatives: [["a", "b"]]))
        #expect(one["oneOf"] == [["required": ["a"]], ["required": ["b"]]])
        #expect(one["type"] == "object")
        let two = JSON.object(ShapeSchema.object([], alternatives: [["a", "b"], ["c"]]))
        #expect(two["allOf"]?.array?.count == 2)
        #expect(two["oneOf"] == nil)
    }

    @Test("The schema of a type that holds itself ends")
    func endless() {
        var depth = 0
        var schema: JSON? = schema(Tree.self)
        while let inner = schema?["properties"]?["children"]?["items"] {
            depth += 1
            schema = inner
        }
        #expect((2...12).contains(depth))
    }
}
