import AssayCore
import AssayYAML
import Testing

@Suite("After a failure in a mapping its other keys are still looked at")
struct RecoveryTests {
    enum Mode: String, Decodable, CaseIterable { case enforced, monitored }

    struct Token: Decodable {
        let name: String
        let sha256: SecretDigest?
        let expires: Instant?
    }

    struct Settings: Decodable {
        let mode: Mode
        let lifetime: Duration
        let count: Int?
        let tokens: [Token]?
        let owner: Owner?
    }

    struct Owner: Decodable {
        let name: String
        let mail: String
    }

    struct Checked: Decodable {
        let low: Int
        let high: Int
        let note: String?

        enum CodingKeys: CodingKey { case low, high, note }

        init(from decoder: any Decoder) throws {
            let keys = try decoder.container(keyedBy: CodingKeys.self)
            low = try keys.decode(Int.self, forKey: .low)
            high = try keys.decode(Int.self, forKey: .high)
            note = try keys.decodeIfPresent(String.self, forKey: .note)
            if low > high { throw ConfigurationError(at: ["low"], "above `high`") }
        }
    }

    private func bad<T: Decodable>(_ type: T.Type, _ text: String) -> [String] {
        problems { () throws(Diagnostics) in _ = try decode(type, text) }
    }

    @Test("Wrong types, missing keys and unknown keys of one mapping are reported together, and at every level")
    func together() {
        let text = """
            count: many
            lifetime: 5
            mdoe: enforced
            tokens:
              - sha256: abc
                expires: tomorrow
                colour: red
              - name: good
            owner: {nmae: x, mial: y, more: z}
            """
        #expect(
            bad(Settings.self, text) == [
                "1:8 count: expected a whole number, found `many`",
                "2:11 lifetime: expected a duration such as 1h, found `5` (add a unit, such as 5s)",
                "3:1 mdoe: unknown key `mdoe` (did you mean `mode`, which is missing?)",
                "5:5 tokens[0].name: missing key `name`",
                "5:13 tokens[0].sha256: expected 64 hexadecimal digits: the SHA-256 of the secret, not the secret itself",
                "6:14 tokens[0].expires: not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)",
                "7:5 tokens[0].colour: unknown key `colour` (known here: `expires`, `name`, `sha256`)",
                "9:9 owner.nmae: unknown key `nmae` (did you mean `name`, which is missing?)",
                "9:18 owner.mial: unknown key `mial` (did you mean `mail`, which is missing?)",
                "9:27 owner.more: unknown key `more` (known here: `mail`, `name`)",
            ])
    }

    @Test("What a type finds wrong itself is said once, and only of values that could be read")
    func ownChecks() {
        #expect(
            bad(Checked.self, "low: 3\nhigh: 1\nnot: x") == [
                "1:6 low: above `high`", "3:1 not: unknown key `not` (did you mean `note`?)",
            ])
        #expect(
            bad(Checked.self, "low: 3\nhigh: x\nnote: true") == [
                "2:7 high: expected a whole number, found `x`",
                "3:7 note: expected a string, found `true` (quote it: \"true\")",
            ])
    }

    @Test("A key that will be asked for is not taken for the misspelling of one that is missing")
    func laterKeys() {
        struct Pair: Decodable {
            let token: String
            let tokens: [String]
        }
        #expect(bad(Pair.self, "tokens: []") == ["1:1 token: missing key `token`"])
    }

    @Test("Where the keys depend on values, what follows a failure is left alone")
    func dependent() {
        #expect(
            bad(ShapeTests.Either.self, "mode: x\nright: 1\nno: 2") == [
                "1:7 mode: expected one of `enforced`, `monitored`, found `x`"
            ])
        #expect(
            bad(ShapeTests.Either.self, "mode: monitored\nright: 1\nno: 2") == [
                "3:1 no: unknown key `no` (known here: `mode`, `right`)"
            ])
    }

    @Test("A type that reads parts of its mapping through others completes all of them")
    func extended() {
        #expect(
            bad(ShapeTests.Extended.self, "nam: 1\nmore: x\nless: y") == [
                "1:1 nam: unknown key `nam` (did you mean `name`, which is missing?)",
                "2:7 more: expected a whole number, found `x`",
                "3:1 less: unknown key `less` (known here: `more`, `name`, `secret`)",
            ])
    }

    @Test("An error can tell of several places")
    func several() throws {
        struct Two: Decodable {
            init(from decoder: any Decoder) throws {
                _ = try decoder.container(keyedBy: ShapeTests.Either.Keys.self)
                var problems = ConfigurationProblems()
                problems.report(at: ["left"], "not so")
                problems.report(at: ["right", 0], "nor so")
                try problems.throwIfAny()
            }
        }
        let found = bad([String: Two].self, "a: {left: 1, right: [2]}")
        #expect(found == ["1:11 a.left: not so", "1:22 a.right[0]: nor so"])
    }
}
