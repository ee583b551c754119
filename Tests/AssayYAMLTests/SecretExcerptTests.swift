import AssayCore
import AssayYAML
import Testing

@Suite("No secret that was written in the wrong place is shown")
struct SecretExcerptTests {
    struct Token: Decodable {
        let name: String
        let sha256: SecretDigest?
        let token: SecretReference?
    }

    struct Section: Decodable {
        let tokens: [Token]?
        let vault: Vault?
        let lid: String?
    }

    struct Vault: Decodable {
        let opener: SecretReference
    }

    private static let secret = "hunter2-6B4E1D0C"

    @Test(
        "in messages and source lines of any problem around it",
        arguments: [
            "tokens: [{name: a, sha256: SECRET}]", "tokens:\n  - name: a\n    sha256: SECRET",
            "tokens:\n  - name: a\n    sha256: 'SECRET'", "tokens: SECRET", "tokens: [SECRET]", "tokens: {a: SECRET}",
            "tokens:\n  - name: a\n    sha256:\n      SECRET", "tokens: [{nmae: a, sha256: SECRET}]",
            "tokens: [{name: a, sah256: SECRET}]", "tokens: [{name: a, sah256: {b: SECRET}}]",
            "tokens: [{name: a, token: SECRET}]", "tokens: [{name: a, tkn: SECRET}]", "vault: SECRET",
            "vault: {opener: SECRET}", "vault: {opnr: SECRET}", "vault: {opener: [SECRET]}", "vault: [SECRET]",
            "vault: {opener: |\n  SECRET\n}", "lid: {sha256: SECRET}",
            "tokens: []\nsha256: SECRET\nsha256: SECRET", "tokens:\n  - sha256: \"SECRET\n  - b",
            "tokens:\n  - sha256: SECRET\n   b: [", "tokens:\n  - password: |\n      SECRET\n\tx: y",
            "vault:\n  opener:\n    SECRET\n  other: 1", "a: 1\nprivate_key: SECRET: x",
            "a: 1\nPRIVATE_KEY: SECRET: x", "a: 1\nPassphrase: SECRET: x", "a: 1\n\"Api-Key\": SECRET: x",
            "a: 1\n'DB.PASSWORD': SECRET: x",
            "{link: https://user:SECRET@example.com/, lod: http://SECRET@b}",
        ])
    func hidden(_ text: String) throws {
        let error = try #require(throws: Diagnostics.self) {
            try decode(Section.self, text.replacing("SECRET", with: Self.secret))
        }
        for part in ["hunter2", "6B4E1D0C"] { #expect(!error.description.contains(part), "\(error)") }
    }

    @Test("and the caret line stays")
    func caret() throws {
        let error = try #require(throws: Diagnostics.self) {
            try decode(Section.self, "tokens:\n  - name: a\n    sha256: \(Self.secret) # mine")
        }
        #expect(
            error.description == """
                policy.yaml:3:13: tokens[0].sha256: expected 64 hexadecimal digits: the SHA-256 of the secret, not the secret \
                itself
                  |     sha256: ***
                  |             ^
                """)
        let flow = try #require(throws: Diagnostics.self) {
            try decode(Section.self, "{tokens: [{lid: \(Self.secret), nmae: a}], lod: x}")
        }
        #expect(
            flow.all.map { $0.excerpt?.text } == Array(repeating: "{tokens: [{lid: ***, nmae: ***}], lod: x}", count: 3)
        )
        #expect(flow.all.map { $0.excerpt?.caret } == [11, 21, 34])
    }

    @Test("References to secrets are shown, and lines without any")
    func shown() throws {
        let error = try #require(throws: Diagnostics.self) {
            try decode(Section.self, "tokens: [{name: true, token: 'env:TOKEN'}]\nlod: 5")
        }
        #expect(error.all.map { $0.excerpt?.text } == ["tokens: [{name: true, token: 'env:TOKEN'}]", "lod: 5"])
    }
}
