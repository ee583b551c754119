import AssayCore
import AssayKit
import Testing

@Suite struct ExactTextTests {
    /// Spellings that `String` takes for equal.
    private static let sameToSwift: [(String, String)] = [
        ("Karl", "\u{212A}arl"), ("jos\u{E9}", "jose\u{301}"), ("\u{2126}", "\u{3A9}"), ("\u{1E69}", "s\u{307}\u{323}"),
        ("\u{AC00}", "\u{1100}\u{1161}"), ("\u{387}", "\u{B7}"),
    ]

    @Test("spellings that String takes for equal differ", arguments: sameToSwift)
    func tellsSpellingsApart(left: String, right: String) {
        #expect(left == right)
        #expect(!left.isExactly(right))
        #expect(ExactText(left) != ExactText(right))
        #expect(Set<ExactText>([ExactText(left), ExactText(right)]).count == 2)
        #expect(![left].contains(exactly: right))
        #expect(!left.isExactlyIgnoringASCIICase(right))
        #expect(!("x" + left).ends(withExactly: right))
        #expect(!(left + "x").starts(withExactly: right))
    }

    @Test("values of JSON are compared by their bytes, and members found by theirs", arguments: sameToSwift)
    func comparesJSON(left: String, right: String) throws {
        #expect(JSON.string(left) != .string(right))
        let object: JSON = .object([JSONMember(left, 1)])
        #expect(object[left] == 1)
        #expect(object[right] == nil)
        if !left.isASCII { #expect(throws: InvalidRequest.self) { try RequestFields(object) } }
        let both = #"{"\#(left)":1,"\#(right)":2}"#
        let parsed = try JSON.parse(Array(both.utf8), limits: JSON.Limits(allowsRepeatedNames: false))
        #expect(parsed[left] == 1)
        #expect(parsed[right] == 2)
    }

    @Test("equal bytes are equal text, however they came to be")
    func comparesBytes() {
        let joined = ["a", "b", "\u{E9}"].joined(separator: "/")
        #expect(joined.isExactly("a/b/\u{E9}"))
        #expect(ExactText(joined) == "a/b/\u{E9}")
        #expect(ExactText(joined).hashValue == ExactText("a/b/\u{E9}" as String).hashValue)
        #expect(joined.dropFirst().isExactly("/b/\u{E9}"))
        #expect(String?.none.isExactly(nil) && !String?.none.isExactly("") && String?("a").isExactly("a"))
    }

    @Test("properties marked Exact are compared and hashed by their bytes", arguments: sameToSwift)
    func comparesProperties(left: String, right: String) {
        struct Owner: Hashable {
            @Exact var name: String
            @Exact var others: [String]
            @Exact var alias: String?
        }
        let owner = Owner(name: left, others: [left], alias: left)
        for other in [
            Owner(name: right, others: [left], alias: left), Owner(name: left, others: [right], alias: left),
            Owner(name: left, others: [left], alias: right), Owner(name: left, others: [], alias: left),
            Owner(name: left, others: [left], alias: nil),
        ] {
            #expect(owner != other)
        }
        #expect(Set([owner, Owner(name: left, others: [left], alias: left)]).count == 1)
    }

    @Test("order is that of bytes")
    func orders() {
        let inSwift = ["\u{1F600}", "\u{FB01}", "z", "\u{E9}", "e\u{301}"]
        let inBytes = inSwift.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
        #expect(inSwift.sortedExactly().map { Array($0.utf8) } == inBytes)
        #expect(ExactText("a") < "b" && !(ExactText("b") < "a"))
    }

    @Test(
        "ASCII letters alone change their case",
        arguments: [
            ("AbC\u{212A}\u{C9}", "abc\u{212A}\u{C9}", "ABC\u{212A}\u{C9}"), ("", "", ""), ("x-1_Z", "x-1_z", "X-1_Z"),
        ])
    func changesCase(text: String, lower: String, upper: String) {
        #expect(text.lowercasedASCII.isExactly(lower))
        #expect(text.uppercasedASCII.isExactly(upper))
        #expect(text.isExactlyIgnoringASCIICase(lower) && text.isExactlyIgnoringASCIICase(upper))
    }

    @Test("text is split at bytes, also before a combining mark")
    func splits() {
        #expect("a,,b,".split(onASCII: ",") == ["a", "", "b", ""])
        #expect("a,\u{301}b".split(onASCII: ",").map { Array($0.utf8) } == [Array("a".utf8), Array("\u{301}b".utf8)])
        #expect("a/b/c".split(onASCII: "/", maxSplits: 1) == ["a", "b/c"])
        #expect("".split(onASCII: "/") == [""])
        #expect(" \t a b\t".trimmedASCII == "a b")
        #expect("  ".trimmedASCII.isEmpty)
        #expect("ab?c".prefix(upTo: "ab?c".firstIndex(ofASCII: "?", "#")) == "ab")
        #expect("abc".prefix(upTo: "abc".firstIndex(ofASCII: "?")) == "abc")
    }

    @Test("a case of an enumeration has one spelling")
    func findsCases() {
        enum Word: String, CaseIterable { case kilo = "KILO", jose = "jos\u{E9}" }
        #expect(Word(exactly: "KILO") == .kilo)
        #expect(Word(exactly: "\u{212A}ILO") == nil)
        #expect(Word(exactly: "jos\u{E9}") == .jose)
        #expect(Word(exactly: "jose\u{301}") == nil)
    }

    @Test("a dictionary by exact text is decoded with each spelling its own")
    func looksUp() {
        var values: [ExactText: Int] = [:]
        values["jos\u{E9}" as String] = 1
        values["jose\u{301}" as String, default: 0] += 2
        #expect(values.count == 2 && values["jos\u{E9}" as String] == 1)
        var seen: Set<ExactText> = []
        #expect(
            seen.insert("a" as String).inserted && !seen.insert("a" as String).inserted && seen.contains("a" as String))
    }

    @Test("a value of a dictionary by exact text is changed in place")
    func changesInPlace() {
        var values: [ExactText: [Int]] = ["a": []]
        values["a"]?.reserveCapacity(100)
        func address(_ values: [ExactText: [Int]]) -> UnsafeRawPointer? {
            values["a"]?.withUnsafeBufferPointer { UnsafeRawPointer($0.baseAddress) }
        }
        let before = address(values)
        for number in 0..<50 {
            values["a" as String, default: []].append(number)
            values["a" as String]?.append(number)
        }
        #expect(values["a"]?.count == 100)
        #expect(address(values) == before)
    }
}
