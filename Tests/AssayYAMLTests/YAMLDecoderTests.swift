import AssayCore
import AssayYAML
import Testing

struct YAMLDecoderTests {
    struct Token: Decodable, Equatable {
        let name: String
        let sha256: String
        let expires: Instant?
    }

    enum Mode: String, Decodable, CaseIterable {
        case enforced, monitored, off
    }

    struct Settings: Decodable, Equatable {
        let mode: Mode
        let tokenTTL: Duration
        let tokens: [Token]
        let labels: [String: String]?
        let retries: Int?

        enum CodingKeys: String, CodingKey {
            case mode, tokens, labels, retries
            case tokenTTL = "token_ttl"
        }
    }

    static let good = """
        mode: enforced
        token_ttl: 1h
        tokens:
          - name: ci
            sha256: "00"
            expires: 2027-01-01T00:00:00Z
          - {name: 7, sha256: ff}
        labels:
          team: "a"
          tier: 1
        """

    private func bad(_ text: String) -> [String] {
        problems { () throws(Diagnostics) in _ = try decode(Settings.self, text) }
    }

    @Test func `A type with synthesized conformance is decoded`() throws {
        let settings = try decode(Settings.self, Self.good)
        #expect(settings.mode == .enforced)
        #expect(settings.tokenTTL == .seconds(3600))
        #expect(
            settings.tokens == [
                Token(name: "ci", sha256: "00", expires: Instant(rfc3339: "2027-01-01T00:00:00Z")),
                Token(name: "7", sha256: "ff", expires: nil),
            ])
        #expect(settings.labels == ["team": "a", "tier": "1"])
        #expect(settings.retries == nil)
    }

    @Test func `A missing key is shown at its mapping, or at the key that may be a misspelling`() throws {
        #expect(bad("token_ttl: 1h\ntokens: []") == ["1:1 mode: missing key `mode`"])
        let text = "mode: off\ntoken_tll: 1h\ntokens: []"
        #expect(bad(text) == ["2:1 token_tll: unknown key `token_tll` (did you mean `token_ttl`, which is missing?)"])
    }

    @Test func `A file that is empty misses its keys`() {
        #expect(
            bad("") == [
                "1:1 mode: missing key `mode`", "1:1 tokens: missing key `tokens`",
                "1:1 token_ttl: missing key `token_ttl`",
            ])
    }

    @Test func `A value out of an enumeration names the cases`() {
        #expect(
            bad("mode: enforce\ntoken_ttl: 1h\ntokens: []") == [
                "1:7 mode: expected one of `enforced`, `monitored`, `off`, found `enforce` (did you mean `enforced`?)"
            ])
        #expect(
            bad("mode: 3\ntoken_ttl: 1h\ntokens: []") == [
                "1:7 mode: expected one of `enforced`, `monitored`, `off`, found `3`"
            ])
        #expect(bad("mode: []\ntoken_ttl: 1h\ntokens: []") == ["1:7 mode: expected a string, found a sequence"])
    }

    @Test func `Every bad element of a sequence is reported, and unknown keys in the good ones`() {
        let text = """
            mode: off
            token_ttl: 1h
            tokens:
              - name: true
                sha256: "00"
              - nam: a
                sha256: "00"
              - 5
              - name: good
                sha256: "00"
                expire: 2027-01-01T00:00:00Z
              - name: late
                sha256: "00"
                expires: later
            """
        #expect(
            bad(text) == [
                "4:11 tokens[0].name: expected a string, found `true` (quote it: \"true\")",
                "6:5 tokens[1].nam: unknown key `nam` (did you mean `name`, which is missing?)",
                "8:5 tokens[2]: expected a mapping, found `5`",
                "11:5 tokens[3].expire: unknown key `expire` (did you mean `expires`?)",
                "14:14 tokens[4].expires: not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)",
            ])
    }

    @Test func `Sequences within sequences report all their errors`() {
        let found = problems { () throws(Diagnostics) in _ = try decode([[Int]].self, "[[1, x], 2, [y, 3, z]]") }
        #expect(
            found == [
                "1:6 [0][1]: expected a whole number, found `x`", "1:10 [1]: expected a sequence, found `2`",
                "1:14 [2][0]: expected a whole number, found `y`", "1:20 [2][2]: expected a whole number, found `z`",
            ])
    }

    @Test func `Every bad value of a dictionary is reported`() {
        let found = problems { () throws(Diagnostics) in
            _ = try decode([String: Duration].self, "a: 1h\nb: 2\nc: 3m\nd: [4]\ne: x")
        }
        #expect(
            found == [
                "2:4 b: expected a duration such as 1h, found `2` (add a unit, such as 2s)",
                "4:4 d: expected a duration such as 1h, found a sequence",
                "5:4 e: expected a duration such as 1h, found `x`",
            ])
    }

    @Test func `Unknown keys are reported at every level`() {
        #expect(
            bad(Self.good + "\nretires: 3\n") == ["11:1 retires: unknown key `retires` (did you mean `retries`?)"])
        #expect(
            bad(Self.good + "\nxyzzy: 3\n") == [
                "11:1 xyzzy: unknown key `xyzzy` "
                    + "(known here: `labels`, `mode`, `retries`, `token_ttl`, `tokens`)"
            ])
    }

    @Test func `A bad sequence of thousands reports a hundred and stops`() throws {
        let text = "[" + Array(repeating: "x", count: 10_000).joined(separator: ",") + "]"
        let error = try #require(throws: Diagnostics.self) { try decode([Int].self, text) }
        #expect(error.all.count == 100)
        #expect(error.all.last?.path == "[99]")
    }

    // Types that decode by hand.

    struct Rejecting: Decodable {
        let limit: Int

        enum CodingKeys: CodingKey { case limit, nested }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            limit = try container.decode(Int.self, forKey: .limit)
            switch limit {
            case 1: throw ConfigurationError(at: ["limit"], "must not be 1")
            case 2: throw ConfigurationError("as a whole wrong")
            case 3: throw DecodingError.dataCorruptedError(forKey: .limit, in: container, debugDescription: "not 3")
            case 4: throw Oddity.four
            case 5: throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not five"))
            case 6: throw DecodingError.keyNotFound(CodingKeys.nested, .init(codingPath: [], debugDescription: ""))
            default: break
            }
        }

        enum Oddity: Error { case four }
    }

    @Test(arguments: [
        (1, "2:12 a[0].limit: must not be 1"), (2, "2:5 a[0]: as a whole wrong"), (3, "2:12 a[0].limit: not 3"),
        (4, "2:5 a[0]: four"), (5, "2:5 a[0]: not five"), (6, "2:5 a[0].nested: missing key `nested`"),
    ])
    func `Errors of a type's own initializer find their place`(_ limit: Int, _ expected: String) {
        let found = problems { () throws(Diagnostics) in
            _ = try decode([String: [Rejecting]].self, "a:\n  - limit: \(limit)")
        }
        #expect(found == [expected])
    }

    struct Flexible: Decodable {
        let first: Int
        let inner: String
        let pair: [String]

        enum Keys: String, CodingKey { case numbers, inner }
        enum InnerKeys: String, CodingKey { case name }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            var numbers = try container.nestedUnkeyedContainer(forKey: .numbers)
            first = try numbers.decode(Int.self)
            pair = try [numbers.decode(String.self), numbers.decode(String.self)]
            inner = try container.nestedContainer(keyedBy: InnerKeys.self, forKey: .inner)
                .decode(String.self, forKey: .name)
        }
    }

    @Test func `Nested containers are located and check their keys`() throws {
        let flexible = try decode(Flexible.self, "numbers: [1, a, b]\ninner: {name: x}")
        #expect(flexible.first == 1)
        #expect(flexible.pair == ["a", "b"])
        #expect(flexible.inner == "x")
        func bad(_ text: String) -> [String] {
            problems { () throws(Diagnostics) in _ = try decode(Flexible.self, text) }
        }
        #expect(
            bad("numbers: [1, a, b]\ninner: {name: x, nane: y}") == [
                "2:18 inner.nane: unknown key `nane` (did you mean `name`?)"
            ])
        // What follows a failed element may be of another type: it is left alone.
        #expect(bad("numbers: [x, a, b]\ninner: 1") == ["1:11 numbers[0]: expected a whole number, found `x`"])
        #expect(bad("numbers: [1, a]\ninner: 1") == ["1:10 numbers: expected more than 2 elements"])
        #expect(bad("numbers: [1, a, b]\ninner: 1") == ["2:8 inner: expected a mapping, found `1`"])
    }

    struct Whole: Decodable {
        let token: Token

        init(from decoder: any Decoder) throws {
            token = try decoder.singleValueContainer().decode(Token.self)
        }
    }

    @Test func `A type that takes another as a whole shares its keys`() throws {
        #expect(try decode(Whole.self, "{name: a, sha256: b}").token.name == "a")
        let found = problems { () throws(Diagnostics) in
            _ = try decode([Whole].self, "[{name: a, sha256: b, expiry: c}]")
        }
        #expect(found == ["1:23 [0].expiry: unknown key `expiry` (did you mean `expires`?)"])
    }

    @Test func `The line of a reference to a secret is not shown`() throws {
        let error = try #require(throws: Diagnostics.self) {
            try decode([String: SecretReference].self, "key: hunter2")
        }
        #expect(error.all.first?.location?.column == 6)
        #expect(!error.description.contains("hunter2"))
    }

    struct Keys: Decodable {
        let mode: Mode?
        let key: SecretReference?
    }

    struct RequiredKey: Decodable {
        let key: SecretReference
    }

    @Test func `A line that may hold a secret under a misspelled key is not shown`() throws {
        let unknown = try #require(throws: Diagnostics.self) { try decode(Keys.self, "mode: off\nkye: hunter2") }
        #expect(unknown.all.map(\.brief) == ["2:1 kye: unknown key `kye` (did you mean `key`?)"])
        #expect(!unknown.description.contains("hunter2"))
        let missing = try #require(throws: Diagnostics.self) { try decode(RequiredKey.self, "kye: hunter2") }
        #expect(missing.all.map(\.brief) == ["1:1 kye: unknown key `kye` (did you mean `key`, which is missing?)"])
        #expect(!missing.description.contains("hunter2"))
    }

    @Test func `Where the reference to a secret is there, the line of another unknown key is shown`() throws {
        let error = try #require(throws: Diagnostics.self) { try decode(Keys.self, "key: env:KEY\nmdoe: off") }
        #expect(error.all.map { $0.excerpt?.text } == ["mdoe: off"])
    }
}
