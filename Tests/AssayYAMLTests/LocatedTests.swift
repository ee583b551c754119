import AssayCore
import AssayYAML
import Testing

@Suite("Values that know where they stand")
struct LocatedTests {
    struct Entry: DescribedConfiguration, Equatable {
        let name: String
        let secret: SecretReference?

        static let keys: [ExactText: PolicyKey] = ["name": "What it is called.", "secret": "Where it is."]
        static let alternatives = [["name", "other"]]
    }

    struct Section: Decodable {
        let entries: [Located<Entry>]
        let limit: Located<Int>?
        let names: [String: Located<String>]?
    }

    @Test("A value has the place where its text begins, within lists, mappings and optional keys")
    func places() throws {
        let section = try decode(
            Section.self,
            """
            entries:
              - name: a
              - {name: b, secret: 'env:B'}
            limit:   3
            names:
              x: y
            """)
        #expect(section.entries.map(\.value.name) == ["a", "b"])
        #expect(section.entries.map(\.place) == ["policy.yaml:2:5", "policy.yaml:3:5"])
        #expect(section.limit == Located(3, at: "policy.yaml:4:10"))
        #expect(section.names == ["x": Located("y", at: "policy.yaml:6:6")])
        #expect(try decode(Section.self, "entries: []").limit == nil)
    }

    @Test("A section that takes itself with its place is read like any other")
    func whole() throws {
        let section = try decode(Located<Section>.self, "\nentries: [{name: a}]")
        #expect(section.place == "policy.yaml:2:1")
        #expect(section.value.entries.first?.place == "policy.yaml:2:11")
    }

    @Test("What is wrong is reported once, at its place, as without the place")
    func problemsInside() {
        let text = "{entries: [{nam: a}, {name: {}, extra: 1}, {name: c, secret: x}], limit: many}"
        struct Plain: Decodable {
            let entries: [Entry]
            let limit: Int?
        }
        let expected = problems { () throws(Diagnostics) in _ = try decode(Plain.self, text) }
        #expect(expected.count == 5, "\(expected)")
        let found = problems { () throws(Diagnostics) in _ = try decode(Section.self, text) }
        #expect(found == expected)
        #expect(problems { () throws(Diagnostics) in _ = try decode(Located<Section>.self, text) } == expected)
    }

    @Test("Editors see the type itself")
    func shape() throws {
        guard case .mapping(let shape) = ValueShape(of: Located<Entry>.self) else {
            Issue.record("a mapping has another shape")
            return
        }
        #expect(shape.fields.map(\.key) == ["name", "secret"])
        #expect(shape.fields.map(\.isRequired) == [true, false])
        #expect(shape.isFixed)
        #expect(shape.descriptions.keys.sorted() == ["name", "secret"])
        #expect(shape.alternatives == Entry.alternatives)
        guard case .duration = ValueShape(of: Located<Duration>.self) else {
            Issue.record("a duration has another shape")
            return
        }
    }
}
