import AssayCore
import Testing

@testable import AssayHTTP

@Suite("Parameters of queries and forms")
struct QueryParametersTests {
    private func pairs(_ text: String) throws -> [String] {
        try QueryParameters(text.utf8).all.flatMap { name, values in values.map { "\(name)=\($0)" } }
    }

    @Test(
        "Names and values are decoded once, with a plus sign as a space where it is not escaped",
        arguments: [
            ("a=b", ["a=b"]), ("a", ["a="]), ("a=", ["a="]), ("=b", ["=b"]), ("", []), ("&&a=1&", ["a=1"]),
            ("a=b=c", ["a=b=c"]), ("a+b=c+d", ["a b=c d"]), ("a=%2B+", ["a=+ "]), ("%61=%2562", ["a=%62"]),
            ("a=1&b=2&a=3", ["a=1", "a=3", "b=2"]), ("a=%C3%A9", ["a=\u{E9}"]), ("a=x;b=y", ["a=x;b=y"]),
            ("a=1&A=2", ["A=2", "a=1"]),
        ])
    func decoded(_ text: String, _ expected: [String]) throws {
        #expect(try pairs(text).isExactly(expected))
    }

    @Test(
        "A broken escape, text that is not UTF-8, a zero byte and a name that is not ASCII are malformed",
        arguments: [
            "a=%", "a=%4", "%zz=1", "a=%FF", "a=%C3", "a=%C0%80", "a=%ED%A0%80", "a=%00", "%00=1", "%C3%A9=1", "a\0=1",
        ])
    func malformed(_ text: String) {
        #expect(throws: QueryParameters.Malformed.self) { try QueryParameters(text.utf8) }
    }

    @Test("Up to 256 parameters are read; one more makes the whole malformed, whatever its size")
    func count() throws {
        #expect(try QueryParameters(String(repeating: "a=1&", count: 256).utf8)["a"].count == 256)
        for text in [String(repeating: "a=1&", count: 257), String(repeating: "a&", count: 1_000_000)] {
            #expect(throws: QueryParameters.Malformed.self) { try QueryParameters(text.utf8) }
        }
    }

    @Test(
        "Of a request's target only what stands between the question mark and the fragment counts",
        arguments: [("/a?b=1#c?b=2", ["1"]), ("/a#?b=1", ["1"]), ("/a", []), ("/?b=?", ["?"]), ("b=1", [])])
    func target(_ target: String, _ expected: [String]) throws {
        #expect(try QueryParameters(target: target)["b"].isExactly(expected))
    }
}

@Suite("Header fields")
struct HeaderFieldsTests {
    @Test("Fields are found in any letter case, in the order in which they came, and not by part of a name")
    func lookup() {
        let headers: HeaderFields = [("X-A", "1"), ("x-b", "2"), ("x-a", "3")]
        #expect(headers["x-A"] == ["1", "3"])
        #expect(headers["x"].isEmpty && headers[""].isEmpty)
        #expect(headers.contains("X-B") && !headers.contains("x-"))
        // The sign of Kelvin is no letter of a field's name.
        #expect(([("\u{212A}", "1")] as HeaderFields)["k"].isEmpty)
    }

    @Test("They can be changed as any list")
    func changes() {
        var headers: HeaderFields = [("a", "1"), ("b", "2")]
        headers.append((name: "a", value: "3"))
        headers.removeAll { $0.name.isExactly("b") }
        headers.insert((name: "c", value: "0"), at: 0)
        #expect(headers.map(\.value) == ["0", "1", "3"])
        headers.replaceSubrange(1..<3, with: HeaderFields())
        #expect(headers.count == 1 && headers[0].name.isExactly("c"))
        #expect(HeaderFields().isEmpty)
    }
}
