import AssayCore
import AssayKit
import AssayPolicy
import AssayYAML
import Testing

@Suite("A wrong policy is refused at its place")
struct PolicyRefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: String
        /// `line:column`, the path of the key, and a part of the message.
        let place: String
        let path: String
        let message: String
        var testDescription: String { name }
    }

    private static let app = """
        projects:
          - number: 1234567890
            id: example-project
            apps:
              - id: 1:1234567890:ios:321abc456def7890

        """

    static let cases = [
        Case(
            name: "an unknown key at the top", text: "project: []", place: "1:1", path: "project",
            message: "unknown key"),
        Case(
            name: "a wrong type", text: "projects: 5", place: "1:11", path: "projects", message: "a sequence"),
        Case(
            name: "a duplicate key", text: "version: 1\nversion: 1", place: "2:1", path: "version",
            message: "duplicate"),
        Case(
            name: "an unknown version", text: "version: 2", place: "1:10", path: "version", message: "version 2"),
        Case(
            name: "a life that is too short", text: app + "        token_ttl: 29m", place: "6:20",
            path: "projects[0].apps[0].token_ttl", message: "30m to 7d"),
        Case(
            name: "a life that is too long", text: app + "        token_ttl: 8d", place: "6:20",
            path: "projects[0].apps[0].token_ttl", message: "30m to 7d"),
        Case(
            name: "a life of part of a second", text: app + "        token_ttl: 1800500ms", place: "6:20",
            path: "projects[0].apps[0].token_ttl", message: "whole seconds"),
        Case(
            name: "a project number of letters", text: "projects: [{number: abc, id: example-project}]",
            place: "1:21", path: "projects[0].number", message: "decimal digits"),
        Case(
            name: "a project number with a leading zero, which no client would send",
            text: "projects: [{number: 0123, id: example-project}]", place: "1:21", path: "projects[0].number",
            message: "without leading zeros"),
        Case(
            name: "a project number with an exponent", text: "projects: [{number: 1e5, id: example-project}]",
            place: "1:21", path: "projects[0].number", message: "decimal digits"),
        Case(
            name: "a project number in hexadecimal", text: "projects: [{number: 0x1F, id: example-project}]",
            place: "1:21", path: "projects[0].number", message: "decimal digits"),
        Case(
            name: "a project number of 21 digits",
            text: "projects: [{number: 123456789012345678901, id: example-project}]", place: "1:21",
            path: "projects[0].number", message: "decimal digits"),
        Case(
            name: "a project ID that is a number", text: "projects: [{number: 1, id: '22'}]", place: "1:28",
            path: "projects[0].id", message: "a project ID"),
        Case(
            name: "a missing project ID", text: "projects: [{number: 1}]", place: "1:12",
            path: "projects[0].id", message: "missing"),
        Case(
            name: "an app ID of another form",
            text: "projects: [{number: 1, id: a, apps: [{id: '1:2:ios'}]}]", place: "1:43",
            path: "projects[0].apps[0].id", message: "an app ID"),
        Case(
            name: "an algorithm that is none", text: "tokens: {algorithm: HS256}", place: "1:21",
            path: "tokens.algorithm", message: "`RS256`, `ES256`"),
        Case(
            name: "an RSA size of no use", text: "tokens: {rsa_bits: 1024}", place: "1:20",
            path: "tokens.rsa_bits", message: "2048 or 3072"),
        Case(
            name: "an RSA size with ES256", text: "tokens: {algorithm: ES256, rsa_bits: 2048}", place: "1:38",
            path: "tokens.rsa_bits", message: "has no effect"),
        Case(
            name: "an issuer without a slash behind it",
            text: "projects: [{number: 1, id: a, issuer: 'https://example.com'}]", place: "1:39",
            path: "projects[0].issuer", message: "ends in a slash"),
        Case(
            name: "an OAuth client of no app",
            text: app + "    oauth_clients: [{id: client, app: '1:1234567890:ios:321abc456def7891'}]", place: "6:39",
            path: "projects[0].oauth_clients[0].app", message: "unknown app"),
        Case(
            name: "a token's life for an OAuth client with its app's providers",
            text: app + "    oauth_clients: [{id: client, app: 1:1234567890:ios:321abc456def7890, token_ttl: 1h}]",
            place: "6:85", path: "projects[0].oauth_clients[0].token_ttl",
            message: "has no effect without the client's own `providers`"),
        Case(
            name: "an OAuth client that is linked to nothing", text: app + "    oauth_clients: [{id: client}]",
            place: "6:21", path: "projects[0].oauth_clients[0].app", message: "missing"),
    ]

    @Test("with file, line, column and the key's path", arguments: cases)
    func refused(_ refusal: Case) throws {
        // Which keys the sections of plugins have is known when there are plugins, or none.
        let file = PolicyFile(name: "policies/a.yaml", text: refusal.text)
        let error = try #require(PolicySet.read([file]).reading([]).problems)
        let first = try #require(error.all.first)
        #expect(first.location.map { "\($0)" } == "policies/a.yaml:\(refusal.place)")
        #expect(first.path == refusal.path)
        #expect(first.message.contains(refusal.message), "\(first.message)")
    }

    @Test("An app that is defined twice is shown at both places, also in two files")
    func duplicateApp() throws {
        let other = Self.app.replacing("example-project", with: "other-project").replacing("1234567890\n", with: "5\n")
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([PolicyFile(name: "a.yaml", text: Self.app), PolicyFile(name: "b.yaml", text: other)])
        }
        let problem = try #require(error.all.first)
        #expect(problem.message.contains("the app `1:1234567890:ios:321abc456def7890` is defined twice"))
        #expect(problem.location.map { "\($0)" } == "b.yaml:5:13")
        #expect(problem.related.map { "\($0.location)" } == ["a.yaml:5:13"])
    }

    @Test(
        "A name of any kind that two files define is shown at both places",
        arguments: [
            ("projects: [{number: 1, id: NAME}]", "projects: [{number: 2, id: NAME}]", "the project `NAME`", 28),
            ("projects: [{id: one, number: 77}]", "projects: [{id: two, number: 77}]", "the project `77`", 30),
            ("projects: [{id: one, number: 1}]", "projects: [{number: 1, id: two}]", "the project `1`", 21),
            ("callers: {NAME: {}}", "callers: {NAME: {}}", "the caller `NAME`", 17),
            (
                "projects: [{number: 1, id: one, oauth_clients: [{id: NAME}]}]",
                "projects: [{number: 2, id: two, oauth_clients: [{id: NAME}]}]", "the OAuth client `NAME`", 54
            ),
            (
                "projects: [{number: 1, id: one, apps: [{id: '1:1:ios:ab'}]}]",
                "projects: [{number: 2, id: two, apps: [{id: '1:1:ios:ab'}]}]", "the app `1:1:ios:ab`", 45
            ),
        ])
    func duplicates(_ first: String, _ second: String, _ name: String, _ column: Int) throws {
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([
                PolicyFile(name: "a.yaml", text: first.replacing("NAME", with: "same")),
                PolicyFile(name: "b.yaml", text: second.replacing("NAME", with: "same")),
            ])
        }
        let found = error.all.filter { $0.message.contains("defined twice") }
        let problem = try #require(found.first)
        #expect(found.count == 1)
        #expect(problem.message == "\(name.replacing("NAME", with: "same")) is defined twice")
        #expect(problem.location.map { "\($0)" } == "b.yaml:1:\(column)")
        #expect(problem.related.first?.location.file == "a.yaml")
    }

    @Test(
        "No message steers the terminal, whatever it quotes", arguments: ["\u{FEFF}", "\u{202E}", "\u{1B}[2J", "\u{7}"])
    func control(_ text: String) throws {
        let file = Self.app + "    oauth_clients: [{id: client, app: \"\(Self.escaped(text))\"}]"
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([PolicyFile(name: "a.yaml", text: file)])
        }
        #expect(error.all.first?.message.contains("unknown app") == true)
        #expect(error.all.first?.message.contains("`<U+") == true)
        #expect(!error.description.unicodeScalars.contains { text.unicodeScalars.first == $0 })
    }

    @Test(
        "Characters that are invisible or look like others are named by their code points",
        arguments: [
            (
                "apps: [{id: '1:1:ios:a', providers: {}, token\u{200B}_ttl: 1h}]", "unknown key `token<U+200B>_ttl`",
                "U+200B"
            ),
            ("apps: [{id: '1:1:ios:a', pr\u{43E}viders: {}}]", "unknown key `pr\u{43E}viders`", "U+043E"),
            ("apps: [{id: '1:1:i\u{43E}s:a', providers: {}}]", "expected an app ID", "U+043E"),
            ("services: {'\u{430}pi': {}}", "a service's name is", "U+0430"),
            ("oauth_clients: [{id: client, app: '1:1:ios:\u{FF41}'}]", "unknown app `1:1:ios:\u{FF41}`", "U+FF41"),
            ("services: {api: {enforcement: ENF\u{41E}RCED}}", "expected", "U+041E"),
            ("apps: [{id: '1:1:ios:a', providers: {}, token_ttl: 1h\u{200B}}]", "expected", "U+200B"),
        ])
    func codePoints(_ text: String, _ message: String, _ codePoint: String) throws {
        let file = "projects: [{number: 1, id: a, \(text)}]"
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: file)]).reading([])
        let problem = try #require(policies.problems?.all.first { $0.message.hasPrefix(message) })
        #expect(problem.hint?.hasSuffix("not ASCII: \(codePoint)") == true, "\(problem)")
        #expect(!problem.description.unicodeScalars.contains("\u{200B}"))
    }

    @Test(
        "A level that is written as a switch is explained, quoted or not",
        arguments: [
            ("ON", "did you mean `ENFORCED`? `ENFORCED` refuses"), ("On", "did you mean `ENFORCED`? "),
            ("true", "did you mean `ENFORCED`? "), ("\"yes\"", "did you mean `ENFORCED`? "),
            ("false", "did you mean `OFF`?"), ("no", "did you mean `OFF`?"), ("Off", "did you mean `OFF`?"),
            ("enforced", "did you mean `ENFORCED`?"), ("MONITOR", "`ENFORCED` refuses requests without a valid token"),
        ])
    func levels(_ level: String, _ hint: String) throws {
        let file = "projects: [{number: 1, id: a, services: {api: {enforcement: \(level)}}}]"
        let policies = PolicySet.read([PolicyFile(name: "a.yaml", text: file)]).reading([])
        let problem = try #require(policies.problems?.all.first)
        #expect(problem.location?.column == 61)
        #expect(problem.message.hasPrefix("expected one of `OFF`, `UNENFORCED`, `ENFORCED`, found "))
        #expect(problem.hint?.hasPrefix(hint) == true, "\(problem)")
    }

    /// The text as YAML's double quotes take it.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.map {
            $0.value < 0x20 ? "\\x" + String($0.value + 0x100, radix: 16).dropFirst() : String($0)
        }
        .joined()
    }

    @Test("The section `tokens` may stand in one file only")
    func duplicateTokens() throws {
        let file = "tokens: {algorithm: RS256}"
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([PolicyFile(name: "a.yaml", text: file), PolicyFile(name: "b.yaml", text: file)])
        }
        #expect(error.all.map { "\($0.location?.file ?? "")" } == ["b.yaml"])
        #expect(error.all.first?.related.first?.location.file == "a.yaml")
    }

    @Test(
        "Thousands of clients of unknown apps are reported soon, and only as many as can be read",
        .timeLimit(.minutes(20)))
    func manyUnknownApps() throws {
        let apps = (0..<2000).map { "      - id: 1:1:ios:a\($0)\n" }.joined()
        let clients = (0..<2000).map { "      - {id: client\($0), app: '1:1:ios:b\($0)'}\n" }.joined()
        let text = "projects:\n  - number: 1\n    id: a\n    apps:\n\(apps)    oauth_clients:\n\(clients)"
        let error = try #require(throws: Diagnostics.self) {
            try PolicySet.load([PolicyFile(name: "a.yaml", text: text), PolicyFile(name: "b.yaml", text: "no: 1")])
        }
        #expect(error.all.count == 100)
        #expect(error.omitted == 1)
        #expect(error.all.allSatisfy { $0.message.hasPrefix("unknown app") })
    }

    @Test("Everything that is wrong in all files is reported at once")
    func allAtOnce() throws {
        let files = [
            PolicyFile(name: "a.yaml", text: "tokens: {algorithm: X, rsa_bits: 1}\nprojects: [{number: x, id: y z}]"),
            PolicyFile(name: "b.yaml", text: "unknown: 1\nother: 2"), PolicyFile(name: "c.yaml", text: "a: [b"),
        ]
        let error = try #require(PolicySet.read(files).reading([]).problems)
        #expect(
            error.all.map { $0.location?.file ?? "" } == [
                "a.yaml", "a.yaml", "a.yaml", "a.yaml", "b.yaml", "b.yaml", "c.yaml",
            ])
    }
}
