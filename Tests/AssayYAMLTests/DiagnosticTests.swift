import AssayCore
import AssayYAML
import Testing

struct DiagnosticTests {
    @Test func `A diagnostic reads like a compiler's`() {
        let error = #expect(throws: Diagnostics.self) {
            try parse(
                """
                projects:
                  # a comment
                  name: first
                  name: second
                """)
        }
        #expect(
            error?.description == """
                policy.yaml:4:3: projects.name: duplicate key `name`
                  |   name: second
                  |   ^
                  policy.yaml:3:3: first defined here
                """)
    }

    @Test func `The hint stands before the source line`() {
        let diagnostic = Diagnostic(
            location: SourceLocation(file: "a.yaml", line: 2, column: 3), path: "a.tokn", message: "unknown key `tokn`",
            hint: "did you mean `token`?", excerpt: SourceExcerpt(text: "  tokn: 1", caret: 2))
        #expect(
            diagnostic.description == """
                a.yaml:2:3: a.tokn: unknown key `tokn`
                  did you mean `token`?
                  |   tokn: 1
                  |   ^
                """)
    }

    @Test func `A warning says so`() {
        let place = SourceLocation(file: "a.yaml", line: 2, column: 3)
        let warning = Diagnostic(.warning, location: place, path: "a", message: "odd")
        #expect(warning.description == "a.yaml:2:3: warning: a: odd")
        #expect(Diagnostic(file: "a.yaml", location: nil, message: "gone").description == "a.yaml: gone")
    }

    @Test func `A problem has an end, which is that of the value, of the key, or of the line`() throws {
        func ends(_ text: String) throws -> [String] {
            let error = try #require(throws: Diagnostics.self) { try decode([String: Int].self, text) }
            return error.all.map {
                "\($0.location.map { "\($0.line):\($0.column)" } ?? "")-\($0.end?.line ?? 0):\($0.end?.column ?? 0)"
            }
        }
        #expect(try ends("a: größe # much") == ["1:4-1:9"])
        #expect(try ends("a: 'one\n  two'\nb: {c: d} # more") == ["1:4-2:7", "3:4-3:17"])
        #expect(try ends("a:") == ["1:3-1:3"])
        let unknown = try #require(throws: Diagnostics.self) { try decode(ShapeTests.Inner.self, "{name: a, nmae: b}") }
        #expect(unknown.all.map { $0.end?.column } == [15])
    }

    @Test func `Tabs before the place are repeated under the line`() {
        let excerpt = SourceExcerpt(text: "a:\t[", caret: 3)
        #expect(excerpt.description == "  | a:\t[\n  |   \t^")
    }

    @Test func `Columns count characters, not bytes`() {
        let text = "\"größe\": [1, ü, !x 2]"
        let error = #expect(throws: Diagnostics.self) { try parse(text) }
        #expect(error?.all.first?.location?.column == 17)
        #expect(error?.all.first?.excerpt == SourceExcerpt(text: text, caret: 16))
    }

    @Test func `A long line is cut around the place`() throws {
        let text = "a: [" + String(repeating: "x, ", count: 5000) + "!t y]"
        let error = try #require(throws: Diagnostics.self) { try parse(text) }
        let excerpt = try #require(error.all.first?.excerpt)
        #expect(error.all.first?.location?.column == 15_005)
        #expect(excerpt.text.count <= 120)
        #expect(excerpt.text.dropFirst(excerpt.caret) == "!t y]")
    }

    @Test(arguments: ["\r\n", "\n", "\r"])
    func `The source line is the parser's line, whatever ends lines`(_ end: String) throws {
        let text = ["a: 1", "b: 2", "a: 3"].joined(separator: end)
        let error = try #require(throws: Diagnostics.self) { try parse(text) }
        #expect(error.all.map(\.brief) == ["3:1 a: duplicate key `a`"])
        #expect(error.all.first?.excerpt?.text == "a: 3")
    }

    @Test func `Nothing in a file can steer a terminal`() throws {
        let error = try #require(throws: Diagnostics.self) {
            try decode([String: Int].self, "\"\\e[31m\u{202E}key\": \"\\e[2J\"")
        }
        let printed = error.description.unicodeScalars
        #expect(!printed.contains { $0.value < 32 && $0 != "\n" })
        #expect(!printed.contains("\u{202E}"))
    }

    @Test func `Problems are sorted by place`() throws {
        func at(_ file: String, _ line: Int) -> Diagnostic {
            Diagnostic(location: SourceLocation(file: file, line: line, column: 1), message: "\(file)\(line)")
        }
        let whole = Diagnostic(location: nil, message: "no policies")
        let diagnostics = try #require(Diagnostics([at("b", 1), at("a", 9), whole, at("a", 2)]))
        #expect(diagnostics.all.map(\.message) == ["no policies", "a2", "a9", "b1"])
        #expect(Diagnostics([]) == nil)
    }

    @Test func `A sink keeps the first hundred problems and counts the others`() {
        let sink = DiagnosticSink()
        #expect(sink.isEmpty)
        for number in 0..<130 { sink.report(Diagnostic(location: nil, message: "\(number)")) }
        #expect(sink.diagnostics?.all.count == 100)
        #expect(sink.diagnostics?.omitted == 30)
        #expect(sink.diagnostics?.description.hasSuffix("99\nand at least 30 more") == true)
    }
}
