import AssayCore
import Testing

@testable import AssayYAML

@Suite("Rules that the decoder enforces")
struct EnforcedRuleTests {
    private struct Section: DescribedConfiguration {
        let size: Int?
        let bits: Int?
        let age: Duration?
        let note: String?
        let name: String?
        let list: [String]?
        let own: Int?

        static let keys: [ExactText: PolicyKey] = [
            "size": PolicyKey("x", .range(1...5)).enforced(),
            "bits": PolicyKey("x", .oneOf([2, 3])).enforced(),
            "age": PolicyKey("x", .durations(.seconds(60)...(.seconds(3600)))).enforced(),
            "note": PolicyKey("x", .length(1...3)).enforced(),
            "name": PolicyKey("x", .pattern("^a+$")).enforced("a name is made of `a`") {
                $0.utf8.allSatisfy { $0 == 97 }
            },
            "list": PolicyKey("x", .notEmpty).enforced(),
            "own": PolicyKey("x", .range(1...5)),
        ]
    }

    private struct Tolerant: DescribedConfiguration {
        let id: Checked<String>
        let size: Checked<Int>?
        let inner: Undecoded<[String: Int]>?

        static let keys: [ExactText: PolicyKey] = ["size": PolicyKey("x", .range(1...5)).enforced()]
    }

    private func problems<T: Decodable>(_ type: T.Type, _ text: String) throws -> (T?, [String]) {
        let sink = DiagnosticSink()
        let value = YAMLValue(try YAMLDocument.parse(Array(text.utf8), file: "a.yaml"), sink: sink).decode(type)
        return (value, sink.diagnostics?.all.map { "\($0.path): \($0.message)" } ?? [])
    }

    @Test(
        "A value that does not follow the rule of its key is refused at its place",
        arguments: [
            ("{size: 5, bits: 3, age: 1h, note: abc, name: aa, list: [x], own: 9}", []),
            ("{size: 6}", ["size: expected a number from 1 to 5, found `6`"]),
            ("{bits: 4}", ["bits: expected 2 or 3, found `4`"]),
            ("{age: 59s}", ["age: expected a duration from 1m to 1h, found `59s`"]),
            ("{note: é-é}", ["note: expected text of 1 to 3 bytes, found `é-é`"]),
            ("{name: ab}", ["name: a name is made of `a`"]),
            ("{list: []}", ["list: expected at least one element"]),
            (
                "{size: 0, bits: x, list: []}",
                [
                    "size: expected a number from 1 to 5, found `0`", "bits: expected a whole number, found `x`",
                    "list: expected at least one element",
                ]
            ),
        ])
    func rules(_ text: String, _ expected: [String]) throws {
        let (value, found) = try problems(Section.self, text)
        #expect(found == expected)
        #expect((value == nil) == !expected.isEmpty)
    }

    @Test("After an error in a checked value the rest is still read")
    func tolerant() throws {
        let (value, found) = try problems(Tolerant.self, "{size: 9, inner: {a: x}, other: 1}")
        #expect(value?.id.value == nil && value?.size != nil && value?.size?.value == nil)
        #expect(
            found == [
                "id: missing key `id`", "size: expected a number from 1 to 5, found `9`", "other: unknown key `other`",
            ])
        let sink = DiagnosticSink()
        let inner = value?.inner?.value(sink)
        #expect(inner?.path.description == "inner" && inner?.decode([String: Int].self) == nil)
        #expect(sink.diagnostics?.all.map(\.path) == ["inner.a"])
    }

    @Test("A value that is left out behind its key is reported, and counts as absent")
    func leftOut() throws {
        let (value, found) = try problems(Tolerant.self, "id: a\nsize:\ninner:\n")
        #expect(value?.id.value == "a" && value?.size == nil && value?.inner == nil)
        #expect(found == ["size: has no value", "inner: has no value"])
    }

    @Test("Checked and undecoded values have the shapes of their types")
    func shapes() {
        guard case .mapping(let shape) = ValueShape(of: Tolerant.self) else {
            Issue.record("a mapping")
            return
        }
        #expect(shape.fields.map(\.key) == ["id", "size", "inner"])
        #expect(shape.fields.map(\.isRequired) == [true, false, false])
        #expect(shape.isFixed)
        guard case .dictionary = ValueShape(of: Undecoded<[String: Int]>.self),
            case .opaque = ValueShape(of: Undecoded<Never>.self)
        else {
            Issue.record("other shapes")
            return
        }
    }
}
