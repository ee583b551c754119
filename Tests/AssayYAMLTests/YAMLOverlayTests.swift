import AssayCore
import AssayYAML
import Testing

@Suite("Mappings under others, and values as JSON")
struct YAMLOverlayTests {
    private static func node(_ text: String, file: String = "a.yaml") throws -> YAMLNode {
        try YAMLDocument.parse(Array(text.utf8), file: file)
    }

    @Test(
        "The keys of the other mapping take the place of its own, and null takes a key away",
        arguments: [
            ("{a: 1, b: {x: 1, y: 2}}", "{b: {y: 3}}", "{\"a\":1,\"b\":{\"x\":1,\"y\":3}}"),
            ("{a: [1, 2], b: 1}", "{a: [3]}", "{\"a\":[3],\"b\":1}"),
            ("{a: 1, b: 2}", "{a: null}", "{\"b\":2}"),
            ("{a: 1}", "{}", "{\"a\":1}"),
            ("", "{a: 1}", "{\"a\":1}"),
        ])
    func overlaid(own: String, other: String, expected: String) throws {
        let below = try Self.node(own)
        let result = below.overlaid(by: try Self.node(other, file: "b.yaml"))
        #expect(String(decoding: result.json.encoded, as: UTF8.self) == expected)
        // What is wrong with the whole is at its own place.
        #expect(result.location == below.location)
    }

    @Test("Each value keeps the place of its own file")
    func places() throws {
        let result = try Self.node("{a: 1, b: 2}").overlaid(by: try Self.node("{b: 3}", file: "b.yaml"))
        #expect(result["a"]?.location.description == "a.yaml:1:5")
        #expect(result["b"]?.location.description == "b.yaml:1:5")
    }

    @Test(
        "Plain text is what YAML's core schema makes of it, and quoted text is text",
        arguments: [
            ("{a: 1}", "{\"a\":1}"), ("{a: '1'}", "{\"a\":\"1\"}"), ("{a: -5}", "{\"a\":-5}"),
            ("{a: true, b: 'true', c: yes}", "{\"a\":true,\"b\":\"true\",\"c\":\"yes\"}"),
            ("{a: null, b: ~, c: 'null'}", "{\"a\":null,\"b\":null,\"c\":\"null\"}"),
            ("{a: 007, b: 26.10, c: 1e3}", "{\"a\":\"007\",\"b\":\"26.10\",\"c\":\"1e3\"}"),
            ("{a: 99999999999999999999}", "{\"a\":\"99999999999999999999\"}"),
            ("[1, [x, {y: z}]]", "[1,[\"x\",{\"y\":\"z\"}]]"),
        ])
    func json(text: String, expected: String) throws {
        #expect(String(decoding: try Self.node(text).json.encoded, as: UTF8.self) == expected)
    }
}
