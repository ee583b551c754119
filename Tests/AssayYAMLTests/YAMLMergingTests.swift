import AssayCore
import AssayYAML
import Testing

@Suite("Mappings that are merged")
struct YAMLMergingTests {
    /// What a node holds, in the order of its keys.
    private static func text(_ node: YAMLNode?) -> String {
        guard let node else { return "nothing" }
        switch node.content {
        case .scalar(let text, let isPlain): return isPlain ? text : "'\(text)'"
        case .sequence(let elements): return "[\(elements.map { Self.text($0) }.joined(separator: ", "))]"
        case .mapping(let entries):
            return "{\(entries.map { "\($0.key): \(Self.text($0.value))" }.joined(separator: ", "))}"
        }
    }

    @Test(
        "Keys are merged level by level; lists, texts and other kinds are those of the upper mapping",
        arguments: [
            ("{}", "{}", "{}"),
            ("{a: 1}", "{}", "{a: 1}"),
            ("{}", "{a: 1}", "{a: 1}"),
            ("{a: 1}", "{a: 2}", "{a: 1}"),
            ("{b: 1}", "{a: 2}", "{a: 2, b: 1}"),
            ("{c: 3, a: 1}", "{a: 2, b: 2}", "{a: 1, b: 2, c: 3}"),
            ("{a: {x: 1}}", "{a: {y: 2}}", "{a: {y: 2, x: 1}}"),
            ("{a: {x: {p: 1}}}", "{a: {x: {q: 2}, y: 3}}", "{a: {x: {q: 2, p: 1}, y: 3}}"),
            ("{a: [1]}", "{a: [2, 3]}", "{a: [1]}"),
            ("{a: []}", "{a: [2, 3]}", "{a: []}"),
            ("{a: 1}", "{a: {x: 1}}", "{a: 1}"),
            ("{a: {x: 1}}", "{a: 1}", "{a: {x: 1}}"),
            ("{a: {}}", "{a: {x: 1}}", "{a: {x: 1}}"),
            ("{a: {}}", "{a: [1]}", "{a: {}}"),
            ("{a: ''}", "{a: {x: 1}}", "{a: ''}"),
            // `null` takes a key away, and a key without a value leaves a mapping as it is.
            ("{a: null}", "{a: {x: 1}, b: 2}", "{b: 2}"),
            ("{a: ~}", "{a: 1}", "{}"),
            ("{a: {x: null}}", "{a: {x: 1, y: 2}}", "{a: {y: 2}}"),
            ("{a: null}", "{b: 1}", "{b: 1, a: null}"),
            ("a:", "{a: {x: 1}}", "{a: {x: 1}}"),
            ("a:", "{a: 1}", "{a: 1}"),
            // Keys are compared by their bytes.
            ("{\"\u{E9}\": 1}", "{\"e\u{301}\": 2}", "{e\u{301}: 2, \u{E9}: 1}"),
        ])
    func merged(_ upper: String, _ lower: String, _ expected: String) throws {
        let merged = try parse(upper).merged(over: parse(lower))
        #expect(Self.text(merged) == expected)
        // Merging the same again changes nothing, unless something was taken away.
        if !upper.contains("null"), !upper.contains("~") {
            #expect(Self.text(merged.merged(over: try parse(lower))) == expected)
        }
    }

    @Test("Every key and every value keeps its place in its own file")
    func places() throws {
        let upper = try YAMLDocument.parse(Array("a: {x: 1}\nc: 3".utf8), file: "upper.yaml")
        let lower = try YAMLDocument.parse(Array("\na: {y: 2}\nb: 2".utf8), file: "lower.yaml")
        let merged = upper.merged(over: lower)
        #expect(merged.location.description == "upper.yaml:1:1")
        #expect(
            merged.entries?.map { "\($0.keyLocation) \($0.value.location)" } == [
                "upper.yaml:1:1 upper.yaml:1:4", "lower.yaml:3:1 lower.yaml:3:4", "upper.yaml:2:1 upper.yaml:2:4",
            ])
        #expect(
            merged["a"]?.entries?.map { "\($0.keyLocation) \($0.value.location)" } == [
                "lower.yaml:2:5 lower.yaml:2:8", "upper.yaml:1:5 upper.yaml:1:8",
            ])
        let places = try #require(merged["b"]?.location)
        #expect(merged.touches([places]))
        #expect(!upper.touches([places]))
        #expect(lower.touches([try #require(lower.entries?.last?.keyLocation)]))
    }

    @Test("A value of another file under a key is shown at its own place, and the key at the key's")
    func replaced() throws {
        let upper = try YAMLDocument.parse(Array("a: name".utf8), file: "upper.yaml")
        let lower = try YAMLDocument.parse(Array("\n\nname: {x: 1}".utf8), file: "lower.yaml")
        let changed = upper.mapValues { _ in lower["name"] ?? lower }
        let entry = try #require(changed.entries?.first)
        #expect(entry.keyLocation.description == "upper.yaml:1:1")
        #expect(entry.value.location.description == "lower.yaml:3:7")
        #expect(entry.diagnostic("wrong", in: .root).location?.description == "upper.yaml:1:1")
        #expect(entry.value.diagnostic("wrong", path: .root).location?.description == "lower.yaml:3:7")
    }

    @Test("Keys are left out by their bytes, and lists are changed one by one")
    func parts() throws {
        #expect(Self.text(try parse("{a: 1, b: 2, c: 3}").without(["b", "d"])) == "{a: 1, c: 3}")
        #expect(Self.text(try parse("[1, 2]").without(["b"])) == "[1, 2]")
        let list = try parse("[1, 2, 3]")
        #expect(Self.text(list.mapElements { $0 == 1 ? list : $1 }) == "[1, [1, 2, 3], 3]")
        #expect(Self.text(try parse("{a: 1}").mapElements { _, _ in list }) == "{a: 1}")
        #expect(Self.text(list.mapValues { $0.value }) == "[1, 2, 3]")
    }

    @Test("What is wrong at one place is reported once, in however many ways a reader comes there")
    func once() throws {
        let node = try parse("{a: x, b: y}")
        let sink = DiagnosticSink()
        for path in [YAMLPath.root.key("one"), YAMLPath.root.key("two")] {
            for key in ["a", "b"] {
                let value = try #require(node[key])
                _ = YAMLValue(value, path: path, sink: sink).decode(Int.self)
            }
        }
        #expect(sink.diagnostics?.all.map(\.path) == ["one", "one"])
        let first = try #require(node["a"])
        sink.report(first.diagnostic("something else", path: .root))
        #expect(sink.diagnostics?.all.count == 3)
    }
}
