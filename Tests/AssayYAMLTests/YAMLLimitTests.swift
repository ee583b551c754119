import AssayCore
import AssayYAML
import Testing

struct YAMLLimitTests {
    private func refusal(_ text: String, _ limits: YAMLLimits = .default) -> [String] {
        problems { () throws(Diagnostics) in _ = try parse(text, limits: limits) }
    }

    @Test func `A file may have 16 MiB and no more`() throws {
        let line = "# " + String(repeating: "x", count: 1021) + "\n"
        let full = String(repeating: line, count: 16 << 10)
        #expect(full.utf8.count == 16 << 20)
        #expect(try parse(full).entries?.isEmpty == true)
        #expect(refusal(full + "\n") == ["1:1 the file has 16777217 bytes, more than the 16777216 allowed"])
    }

    @Test(arguments: [("[", "]"), ("{a: ", "}")])
    func `Nesting ends at 32 levels`(_ open: String, _ close: String) throws {
        func nested(_ levels: Int) -> String {
            String(repeating: open, count: levels) + "x" + String(repeating: close, count: levels)
        }
        _ = try parse(nested(32))
        let found = refusal(nested(33))
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("1:\(32 * open.count + 1) ") == true)
        #expect(found.first?.hasSuffix("nested more than 32 levels deep") == true)
    }

    @Test func `A hundred thousand levels are refused as 33 are`() {
        #expect(refusal(String(repeating: "[", count: 100_000)).first?.hasSuffix("more than 32 levels deep") == true)
        #expect(refusal(String(repeating: "- ", count: 100_000)).first?.hasSuffix("more than 32 levels deep") == true)
        let block = (0..<2000).map { String(repeating: " ", count: $0) + "k:\n" }.joined()
        #expect(refusal(block).first?.hasSuffix("more than 32 levels deep") == true)
    }

    @Test func `Aliases do not nest deeper than anything else`() {
        let lines = (1...40).map { "a\($0): &a\($0) [\($0 == 1 ? "x" : "*a\($0 - 1)")]\n" }.joined()
        #expect(refusal(lines) == ["32:12 a32[0]: nested more than 32 levels deep"])
    }

    @Test func `What aliases repeat counts, so that a billion laughs are refused at once`() {
        let laughs = (1...9).map { level in
            let element = level == 1 ? "lol" : "*a\(level - 1)"
            return "a\(level): &a\(level) [\(Array(repeating: element, count: 10).joined(separator: ", "))]\n"
        }
        let found = refusal(laughs.joined())
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix("6:") == true)
        #expect(found.first?.hasSuffix("more than 1000000 values, counting those that aliases repeat") == true)
    }

    @Test func `Aliases count exactly what they repeat`() throws {
        // The mapping, the sequence, its two elements, and the sequence with its two again.
        let text = "a: &x [1, 2]\nb: *x"
        _ = try parse(text, limits: YAMLLimits(nodes: 7))
        #expect(refusal(text, YAMLLimits(nodes: 6)).first?.hasPrefix("2:4 b: more than 6 values") == true)
    }

    @Test func `Values are counted`() throws {
        _ = try parse("[1, 2, 3]", limits: YAMLLimits(nodes: 4))
        #expect(refusal("[1, 2, 3]", YAMLLimits(nodes: 3)).first?.hasPrefix("1:8 [2]: more than 3 values") == true)
    }

    @Test(arguments: ["a: 1\n", "- !x a\n", "- {<<: a}\n"])
    func `A file full of problems reports a hundred, and is not read to its end`(_ line: String) throws {
        // What ends the file would be an error of another kind, were it reached.
        let text = String(repeating: line, count: 5000) + "[\n"
        let error = try #require(throws: Diagnostics.self) { try parse(text) }
        #expect(error.all.count == 100)
        #expect(Set(error.all.map(\.message)).count == 1)
        #expect(error.omitted == 1)
        #expect(error.description.hasSuffix("\nand at least 1 more"))
    }

    @Test(.timeLimit(.minutes(20)), arguments: ["", "a: 1\n...\n"], ["\n", "\r"])
    func `A million directives are refused at once, wherever they stand`(_ head: String, _ end: String) throws {
        let text = head + (0..<500_000).map { "%TAG !a\($0)! b\(end)" }.joined() + "--- a\n"
        #expect(
            problems { () throws(Diagnostics) in _ = try parse(text) } == [
                "\(head.isEmpty ? 101 : 103):1 more than 100 lines that begin with `%`"
            ])
    }

    @Test func `A file may say which YAML it is, and its text may have lines that begin with a per cent sign`() throws {
        #expect(try parse("%YAML 1.1\n---\na: b\n")["a"] != nil)
        let text = String(repeating: "\n%x", count: 100)
        #expect(try parse("\"\(text)\"").summary.contains("%x"))
    }

    @Test func `A mapping of many keys is read and checked`() throws {
        let keys = 50_000
        let text = (0..<keys).map { "key\($0): \($0)\n" }.joined()
        let numbers = try decode([String: Int].self, text)
        #expect(numbers.count == keys)
        #expect(numbers["key49999"] == 49_999)
    }
}
