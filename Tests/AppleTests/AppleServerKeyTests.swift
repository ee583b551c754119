import AssayApple
import AssayCore
import AssayCrypto
import AssayTesting
import Testing

@Suite("A team's key at Apple")
struct AppleServerKeyTests {
    private static let now = Instant(seconds: 1_795_262_400)
    private static let reference = SecretReference(.environment("APPLE_KEY"))

    private func key(_ team: SimulatedAppleTeam, keyID: String? = nil) throws -> AppleServerKey {
        let pem = Array(team.privateKeyPEM.utf8)
        return try AppleServerKey.named(
            keyID ?? team.keyID, teamID: team.teamID, privateKey: Self.reference, secrets: SecretSource { _ in pem })
    }

    @Test("A token is ES256 with the key's identifier, the team and the time, and nothing else")
    func claims() throws {
        let team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        let token = try key(team).token(at: Self.now)
        let jws = try CompactJWS.parse(utf8: Array(token.text.utf8)[...])
        #expect(jws.header.algorithm == .es256)
        #expect(jws.header.keyID == team.keyID)
        let claims = try JSON.parse(jws.payload)
        #expect(claims == .object(["iss": "ABCDE12345", "iat": .integer(1_795_262_400)]))
        let pem = try PrivateKey(pem: Array(team.privateKeyPEM.utf8))
        try jws.verify(with: pem.publicKey)
    }

    @Test("A token is used for twenty minutes, by all apps of the team, and not after the clock was set back")
    func lifetime() throws {
        let team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        let key = try key(team)
        let first = try key.token(at: Self.now)
        #expect(try key.token(at: Self.now + .seconds(1199)) == first)
        #expect(try self.key(team) === key)
        let second = try key.token(at: Self.now + .seconds(1200))
        #expect(second != first)
        #expect(try key.token(at: Self.now + .seconds(1199)) != second)
        #expect(try self.key(team, keyID: "OTHERKEYID") !== key)
    }

    @Test("A token that was refused is replaced, once for all who were refused with it")
    func refused() throws {
        let key = try key(SimulatedAppleTeam(teamID: "ABCDE12345"))
        let first = try key.token(at: Self.now)
        let second = try key.token(at: Self.now, insteadOf: first)
        #expect(second.text != first.text)
        #expect(try key.token(at: Self.now, insteadOf: first) == second)
    }

    @Test("The header is the token, or Bearer and the token")
    func forms() throws {
        let token = try key(SimulatedAppleTeam(teamID: "ABCDE12345")).token(at: Self.now)
        #expect(AppleAuthorizationForm.bare.header(token) == token.text)
        #expect(AppleAuthorizationForm.bearer.header(token) == "Bearer \(token.text)")
    }

    @Test("A key in a variable may have \\n for its line ends, or be in Base64: it is the same key")
    func formsOfVariables() throws {
        let team = try SimulatedAppleTeam(teamID: "ABCDE12345")
        let first = try key(team)
        for text in [
            team.privateKeyPEM.replacing("\n", with: "\\n"), "\"\(team.privateKeyPEM)\"",
            Base64.encode(team.privateKeyPEM.utf8),
        ] {
            let other = try AppleServerKey.named(
                team.keyID, teamID: team.teamID, privateKey: Self.reference,
                secrets: SecretSource { _ in Array(text.utf8) })
            #expect(other === first)
        }
    }

    static let wrong: [(keyID: String, secret: [UInt8]?, path: ConfigurationError.Component, words: String)] = [
        ("short", [], "key_id", "ten capital letters"), ("abcdefghij", [], "key_id", "ten capital letters"),
        ("ABCDE1234\u{e9}", [], "key_id", "ten capital letters"), ("ABCDE12345", nil, "private_key", "is not set"),
        ("ABCDE12345", Array("the secret".utf8), "private_key", "env:APPLE_KEY holds no PEM: it has no line"),
        ("ABCDE12345", (try? Array(rsa().utf8)) ?? [], "private_key", "no P-256 private key"),
        ("ABCDE12345", (try? Array(p384().utf8)) ?? [], "private_key", "no P-256 private key"),
    ]

    @Test("What is wrong with a key is told at its place, without the secret", arguments: wrong.indices)
    func configuration(_ index: Int) throws {
        let wrong = Self.wrong[index]
        let error = try #require(throws: ConfigurationError.self) {
            _ = try AppleServerKey.named(
                wrong.keyID, teamID: "ABCDE12345", privateKey: Self.reference,
                secrets: SecretSource { _ in wrong.secret })
        }
        #expect(error.path == [wrong.path])
        #expect(error.message.contains(wrong.words))
        #expect(!error.message.contains("the secret"))
    }

    private static func rsa() throws -> String {
        try PrivateKey.generate(.rsa(bits: 2048)).pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    private static func p384() throws -> String {
        try PrivateKey.generate(.ec(.p384)).pem().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
