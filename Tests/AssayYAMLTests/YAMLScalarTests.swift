import AssayCore
import AssayYAML
import Testing

struct YAMLScalarTests {
    /// The value of the key `v`.
    private func read<T: Decodable>(_ type: T.Type, _ value: String) throws(Diagnostics) -> T? {
        try decode([String: T].self, "v: \(value)")["v"]
    }

    private func problem<T: Decodable>(_ type: T.Type, _ value: String) -> String {
        let found = problems { () throws(Diagnostics) in _ = try read(type, value) }
        return found.joined(separator: "|").replacing("1:4 v: ", with: "")
    }

    @Test(arguments: [
        ("abc", "abc"), ("123", "123"), ("007", "007"), ("1.10", "1.10"), ("\"true\"", "true"), ("'null'", "null"),
        ("\"\"", ""), ("yes", "yes"), ("truest", "truest"), ("\"a\\nb\"", "a\nb"), ("a b  c", "a b  c"),
    ])
    func `Plain and quoted text is a string, numbers too`(_ value: String, _ expected: String) throws {
        #expect(try read(String.self, value) == expected)
    }

    @Test(arguments: [
        ("true", "expected a string, found `true` (quote it: \"true\")"),
        ("FALSE", "expected a string, found `FALSE` (quote it: \"FALSE\")"),
        ("null", "expected a string, found `null` (quote it: \"null\")"),
        ("~", "expected a string, found `~` (quote it: \"~\")"),
        ("[a]", "expected a string, found a sequence"),
        ("{a: b}", "expected a string, found a mapping"),
    ])
    func `What is no string says so`(_ value: String, _ expected: String) {
        #expect(problem(String.self, value) == expected)
    }

    @Test func `Nothing is no string`() {
        #expect(problem(String.self, "").hasSuffix("v: expected a string, found nothing"))
    }

    @Test(arguments: [
        ("True", "expected true or false, found `True` (write it as true, without quotes)"),
        ("yes", "expected true or false, found `yes` (write it as true, without quotes)"),
        ("off", "expected true or false, found `off` (write it as false, without quotes)"),
        ("\"true\"", "expected true or false, found the string `true` (write it as true, without quotes)"),
        ("1", "expected true or false, found `1`"),
        ("[]", "expected true or false, found a sequence"),
    ])
    func `Booleans are true and false and nothing else`(_ value: String, _ expected: String) throws {
        #expect(problem(Bool.self, value) == expected)
        #expect(try read(Bool.self, "true") == true)
        #expect(try read(Bool.self, "false") == false)
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("+5", 5), ("-7", -7), ("9223372036854775807", .max), ("-9223372036854775808", .min),
        ] as [(String, Int)])
    func `Whole numbers are decimal`(_ value: String, _ expected: Int) throws {
        #expect(try read(Int.self, value) == expected)
    }

    @Test(arguments: [
        ("0x10", "expected a whole number, found `0x10` (write it in decimal digits alone)"),
        ("0o17", "expected a whole number, found `0o17` (write it in decimal digits alone)"),
        ("017", "expected a whole number, found `017` (write it in decimal, without leading zeros)"),
        ("1_000", "expected a whole number, found `1_000` (write it in decimal digits alone)"),
        ("1.0", "expected a whole number, found `1.0`"),
        ("\"12\"", "expected a whole number, found the string `12` (write it without quotes)"),
        ("abc", "expected a whole number, found `abc`"),
        ("true", "expected a whole number, found `true`"),
    ])
    func `Other numbers are not`(_ value: String, _ expected: String) {
        #expect(problem(Int.self, value) == expected)
    }

    @Test(arguments: [
        ("012", "write it in decimal, without leading zeros"), ("-00", "write it in decimal, without leading zeros"),
        ("+08", "write it in decimal, without leading zeros"), ("\"12\"", "write it without quotes"),
        ("0x1F", "write it in decimal digits alone"), ("0b11", "write it in decimal digits alone"),
        ("1_000", "write it in decimal digits alone"),
    ])
    func `Every type of number is written by the same rule`(_ value: String, _ hint: String) {
        #expect(problem(Int.self, value).hasSuffix("(\(hint))"))
        #expect(problem(UInt8.self, value).hasSuffix("(\(hint))"))
        #expect(problem(Double.self, value).hasSuffix("(\(hint))"))
        #expect(problem(Float.self, value).hasSuffix("(\(hint))"))
    }

    @Test(arguments: ["1:30", "12:30:45", "1,000", "1-2", "+-1", "1e", "1.2.3", "--1", "1e+"])
    func `What is no number to YAML 1.2 is none to any type`(_ value: String) {
        #expect(problem(Int.self, value) == "expected a whole number, found `\(value)`")
        #expect(problem(Double.self, value) == "expected a number, found `\(value)`")
    }

    @Test func `Digits of other scripts are no number, and are named`() {
        let named = "`१२` (not ASCII: U+0967, U+0968)"
        #expect(problem(Int.self, "१२") == "expected a whole number, found \(named)")
        #expect(problem(Double.self, "१२") == "expected a number, found \(named)")
    }

    @Test func `A number of less range does not become infinite`() {
        #expect(problem(Double.self, "1e300").isEmpty)
        #expect(problem(Float.self, "1e300").hasPrefix("expected a number from -3.4"))
    }

    @Test func `Numbers keep to the range of their type`() throws {
        #expect(problem(UInt8.self, "256") == "expected a whole number from 0 to 255, found `256`")
        #expect(problem(UInt8.self, "-1") == "expected a whole number from 0 to 255, found `-1`")
        #expect(problem(Int8.self, "128") == "expected a whole number from -128 to 127, found `128`")
        #expect(problem(Int16.self, "40000").hasPrefix("expected a whole number from"))
        #expect(problem(Int32.self, "4000000000").hasPrefix("expected a whole number from"))
        #expect(problem(Int64.self, "9223372036854775808").hasPrefix("expected a whole number from"))
        #expect(problem(UInt.self, "-1").hasPrefix("expected a whole number from"))
        #expect(try read(UInt16.self, "65535") == .max)
        #expect(try read(UInt32.self, "4294967295") == .max)
        #expect(try read(UInt64.self, "18446744073709551615") == .max)
    }

    @Test(arguments: [("0.5", 0.5), ("1", 1), ("-2.5e3", -2500), (".5", 0.5), ("1e-2", 0.01)] as [(String, Double)])
    func `Numbers with a fraction are decimal too`(_ value: String, _ expected: Double) throws {
        #expect(try read(Double.self, value) == expected)
        #expect(try read(Float.self, value) == Float(expected))
    }

    @Test(arguments: ["nan", ".inf", "0x1p3", "1e999", "1,5", "infinity", "e", "."])
    func `What is no finite decimal number is refused`(_ value: String) {
        #expect(problem(Double.self, value) == "expected a number, found `\(value)`")
    }

    @Test(
        arguments: [
            ("90s", .seconds(90)), ("30m", .seconds(1800)), ("1h", .seconds(3600)), ("7d", .seconds(604_800)),
            ("250ms", .milliseconds(250)), ("1h30m", .seconds(5400)), ("1d2h3m4s5ms", .milliseconds(93_784_005)),
            ("\"1h\"", .seconds(3600)), ("0s", .zero), ("999999999d", .seconds(86_399_999_913_600)),
        ] as [(String, Duration)])
    func `Durations name their units`(_ value: String, _ expected: Duration) throws {
        #expect(try read(Duration.self, value) == expected)
    }

    @Test(arguments: [
        ("3600", "expected a duration such as 1h, found `3600` (add a unit, such as 3600s)"),
        ("[1h]", "expected a duration such as 1h, found a sequence"),
        ("1.5h", "expected a duration such as 1h, found `1.5h` (did you mean `1h30m`?)"),
        ("-1h", "expected a duration such as 1h, found `-1h`"),
        ("1H", "expected a duration such as 1h, found `1H` (did you mean `1h`?)"),
        ("30m1h", "expected a duration such as 1h, found `30m1h` (did you mean `1h30m`?)"),
        ("1h1h", "expected a duration such as 1h, found `1h1h`"),
        ("1 h", "expected a duration such as 1h, found `1 h` (did you mean `1h`?)"),
        ("5min", "expected a duration such as 1h, found `5min` (did you mean `5m`?)"),
        ("2 hours 30 min", "expected a duration such as 1h, found `2 hours 30 min` (did you mean `2h30m`?)"),
        ("PT5M", "expected a duration such as 1h, found `PT5M` (did you mean `5m`?)"),
        ("h", "expected a duration such as 1h, found `h`"),
        ("1w", "expected a duration such as 1h, found `1w` (did you mean `7d`?)"),
        ("1000000000d", "expected a duration such as 1h, found `1000000000d`"),
        ("null", "expected a duration such as 1h, found `null`"),
    ])
    func `Other durations are refused`(_ value: String, _ expected: String) {
        #expect(problem(Duration.self, value) == expected)
    }

    @Test(arguments: ["“x”", "‘x’", "„x“"])
    func `Curly quotes do not quote, and what is between them is not shown`(_ value: String) throws {
        let found = problem(String.self, value)
        #expect(found.hasPrefix("expected a string, found one that begins with a curly quote (not ASCII: "))
        #expect(found.hasSuffix("; curly quotes do not quote in YAML: write `\"` or `'`)"))
        #expect(try read(String.self, "\"\(value)\"") == value)
    }

    @Test func `Times are read by their own type, and its words are kept`() throws {
        #expect(try read(Instant.self, "2026-12-31T23:59:59Z") == Instant(rfc3339: "2026-12-31T23:59:59Z"))
        #expect(problem(Instant.self, "tomorrow") == "not a time: write it as 2026-12-31T23:59:59Z (RFC 3339)")
        #expect(problem(Instant.self, "[]") == "expected a string, found a sequence")
    }

    @Test func `Null is nil where that is allowed`() throws {
        #expect(try decode([String: Int?].self, "a: null\nb: ~\nc:\nd: 1") == ["a": nil, "b": nil, "c": nil, "d": 1])
        #expect(try decode([String?].self, "[a, null, \"null\"]") == ["a", nil, "null"])
    }
}
