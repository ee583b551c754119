import Testing

@testable import AssayPolicy

@Suite("Names that policies give")
struct IdentifierTests {
    private static func long(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test(
        "A project's number is decimal, without leading zeros",
        arguments: [
            ("1", true), ("12345678901234567890", true), ("123456789012345678901", false), ("", false), ("0", false),
            ("01", false), ("-1", false), ("+1", false), ("1 ", false), ("1a", false), ("\u{661}", false),
        ])
    func number(_ text: String, _ isOne: Bool) {
        #expect(Identifiers.isProjectNumber(text) == isOne)
    }

    @Test(
        "A project's ID is never taken for its number",
        arguments: [
            ("a", true), ("example.com:my-project", true), ("1a", true), ("1", false), ("123", false), ("", false),
            ("a/b", false), ("a b", false), ("a_b", false), ("\u{E9}", false), (long(63), true), (long(64), false),
        ])
    func id(_ text: String, _ isOne: Bool) {
        #expect(Identifiers.isProjectID(text) == isOne)
        #expect(!(Identifiers.isProjectID(text) && Identifiers.isProjectNumber(text)))
    }

    @Test(
        "An app ID has four parts, the first two of digits",
        arguments: [
            ("1:1:ios:a", true), ("1:1234567890:web:0F", true), ("1:1:ios", false), ("1:1:ios:a:b", false),
            ("1:1::a", false), ("a:1:ios:a", false), ("1:a:ios:a", false), ("1:1:ios:-", false), (":::", false),
            ("", false), ("1:1:ios:\u{E9}", false), ("1:1:ios:\(long(192))", true), ("1:1:ios:\(long(193))", false),
        ])
    func app(_ text: String, _ isOne: Bool) {
        #expect(Identifiers.isAppID(text) == isOne)
    }

    @Test(
        "Clients, callers and services have letters, digits and few marks, each its own",
        arguments: [
            ("a-b.c_d", true, true, true), ("a@b", false, true, false), ("-a", true, true, false),
            ("_a", true, true, false), ("1", true, true, true), ("a/b", false, false, false), ("", false, false, false),
            ("a b", false, false, false), ("a:b", false, false, false), ("\u{212A}", false, false, false),
            (long(64), true, true, true), (long(65), true, false, true), (long(100), true, false, true),
            (long(101), true, false, false), (long(200), true, false, false), (long(201), false, false, false),
        ])
    func names(_ text: String, _ isClient: Bool, _ isCaller: Bool, _ isService: Bool) {
        #expect(Identifiers.isOAuthClientID(text) == isClient)
        #expect(Identifiers.isCallerName(text) == isCaller)
        #expect(Identifiers.isServiceID(text) == isService)
    }

    @Test(
        "What stands before a project's number in `iss` is a URL of https that ends with a slash",
        arguments: [
            ("https://a/", true), ("https://firebaseappcheck.googleapis.com/", true), ("https://a", false),
            ("http://a/", false), ("https:///", false), ("https://", false), ("HTTPS://a/", false),
            ("https://a /", false), ("https://\u{E9}/", false), ("https://\(long(246))/", true),
            ("https://\(long(247))/", false),
        ])
    func issuer(_ text: String, _ isOne: Bool) {
        #expect(Identifiers.isIssuerPrefix(text) == isOne)
    }
}
