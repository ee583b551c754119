import AssayCore
import AssayYAML
import Testing

struct YAMLNodeTests {
    @Test(arguments: ["", "\n\n", "# only a comment\n", "---\n", "---\n...\n", "\u{FEFF}", "\u{FEFF}# marked\n"])
    func `An empty file is an empty mapping`(_ text: String) throws {
        let node = try parse(text)
        #expect(node.entries?.isEmpty == true)
        #expect(node.location.line >= 1)
    }

    @Test func `Values know where they stand`() throws {
        let node = try parse("\u{FEFF}a:\n  - x\n  - {b: \"c\"}\nd:\n")
        #expect(node.location.description == "policy.yaml:1:1")
        #expect(node["a"]?[0]?.location.description == "policy.yaml:2:5")
        #expect(node["a"]?[1]?["b"]?.location.description == "policy.yaml:3:9")
        #expect(node["d"]?.isNull == true)
        #expect(node.entries?.map(\.key) == ["a", "d"])
        #expect(node.entries?.last?.keyLocation.description == "policy.yaml:4:1")
        #expect(node["missing"] == nil)
        #expect(node["a"]?[2] == nil)
        #expect(node["a"]?["b"] == nil)
    }

    @Test func `An alias stands for its anchor's value, the last one of that name`() throws {
        let node = try parse("a: &x {k: 1}\nb: *x\nc: &x [2]\nd: *x")
        #expect(try node["b"]?["k"]?.integer(Int.self) == 1)
        #expect(node["b"]?.location.line == 1)
        #expect(try node["d"]?[0]?.integer(Int.self) == 2)
    }

    @Test func `Paths are written as one would ask for them`() {
        let path = YAMLPath.root.key("projects").index(0).key("apps").index(12).key("token_ttl")
        #expect(path.description == "projects[0].apps[12].token_ttl")
        #expect(YAMLPath.root.description.isEmpty)
        #expect(YAMLPath.root.index(3).description == "[3]")
        #expect(YAMLPath.root.key("a b").key("c.d").description == "[\"a b\"][\"c.d\"]")
    }

    @Test(
        arguments: [
            ([], "1:1 : m"),
            ([.key("a")], "1:1 a: m"),
            ([.key("a"), .key("tokens"), .index(1), .key("sha")], "4:12 a.tokens[1].sha: m"),
            ([.key("a"), .key("tokens"), .index(7), .key("sha")], "3:5 a.tokens[7].sha: m"),
            ([.key("a"), .key("tokens"), .index(0), .key("name")], "3:7 a.tokens[0].name: m"),
            ([.key("nothing"), .index(0)], "1:1 nothing[0]: m"),
        ] as [([ConfigurationError.Component], String)])
    func `A plugin's error is shown at the value it names, or at the nearest around it`(
        _ path: [ConfigurationError.Component], _ expected: String
    ) throws {
        let node = try parse("a:\n  tokens:\n    - sha: 1\n    - sha: 2\n")
        let diagnostics = node.diagnostics(for: ConfigurationError(at: path, "m"), path: .root)
        #expect(diagnostics.map(\.brief) == [expected.replacing(" : m", with: " m")])
    }

    @Test func `A plugin's path continues that of its section`() throws {
        let node = try parse("debug:\n  tokens: []\n")
        let section = try #require(node["debug"])
        let path = YAMLPath.root.key("apps").index(2).key("debug")
        let diagnostics = section.diagnostics(for: ConfigurationError(at: ["tokens"], "none"), path: path)
        #expect(diagnostics.map(\.brief) == ["2:11 apps[2].debug.tokens: none"])
    }
}
