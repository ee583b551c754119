import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPrivacyPass
import AssayTesting
import Testing

@Suite("Privacy Pass: tokens that are refused")
struct RefusedTokenTests {
    private let scene: PrivacyPassScene

    init() throws { scene = try PrivacyPassScene() }

    private func send(_ text: JSON) async -> Reply {
        await scene.engine.call("exchangeCachedPrivacyPassToken", PrivacyPassScene.site, ["privateToken": text])
    }

    @Test("Each byte of a token counts")
    func everyByte() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        for index in token.indices {
            var changed = token
            changed[index] ^= 0x01
            let expected =
                switch index {
                case ..<2: PrivacyPassReasons.type
                case 34..<66: PrivacyPassReasons.challenge
                case 66..<98: PrivacyPassReasons.keyUnknown
                default: PrivacyPassReasons.signature
                }
            #expect(await scene.spend(changed).reason == expected, "byte \(index)")
        }
        #expect(await scene.spend(token).status == nil)
    }

    @Test("A token of another length is malformed", arguments: [0, 1, 2, 34, 97, 98, 353, 355, 610])
    func lengths(_ count: Int) async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        let other =
            count <= token.count
            ? Array(token.prefix(count)) : token + [UInt8](repeating: 0, count: count - token.count)
        #expect(await scene.spend(other).reason == PrivacyPassReasons.malformed)
    }

    @Test(
        "A token of another type is refused, whatever its length", arguments: [0x0000, 0x0001, 0x0003, 0xDA7A, 0xFFFF])
    func types(_ type: Int) async throws {
        let start = [UInt8(type >> 8), UInt8(type & 0xFF)]
        for count in [2, 146, 354] {
            let token = start + [UInt8](repeating: 0, count: count - 2)
            #expect(await scene.spend(token).reason == PrivacyPassReasons.type)
        }
        // One that is signed as it should be.
        let signed = try scene.issuer.token(for: scene.tokenChallenge()) { $0.replaceSubrange(0..<2, with: start) }
        #expect(await scene.spend(signed).reason == PrivacyPassReasons.type)
    }

    @Test("A token for another challenge is refused")
    func challenges() async throws {
        let (_, context) = try await scene.challenge()
        for challenge in [
            scene.tokenChallenge(context), scene.tokenChallenge(issuer: "other.example.com"),
            scene.tokenChallenge(origins: "site.example.com"), scene.tokenChallenge(origins: ""),
            scene.tokenChallenge(origins: "www.example.com,site.example.com"), scene.tokenChallenge() + [0],
        ] {
            let reply = await scene.spend(try scene.issuer.token(for: challenge))
            #expect(reply.reason == PrivacyPassReasons.challenge)
            #expect(
                scene.engine.record(of: reply)?.detail?.contains(Hex.encode(SHA256.hash(scene.tokenChallenge())))
                    == true)
        }
        // For one challenge, sent with another one.
        let (other, _) = try await scene.challenge()
        let token = try scene.issuer.token(for: scene.tokenChallenge(context))
        #expect(await scene.exchange(token, other).reason == PrivacyPassReasons.challenge)
    }

    @Test("A challenge of another app, or one that has ended, is refused before the token is looked at")
    func foreignChallenge() async throws {
        let bytes = try await scene.engine.challenge("generatePrivacyPassChallenge", PrivacyPassScene.otherSite)
        let token = try scene.issuer.token(for: scene.tokenChallenge(SHA256.hash(bytes)))
        #expect(await scene.exchange(token, .string(Base64.encode(bytes))).status != nil)
        let (challenge, context) = try await scene.challenge()
        let late = try scene.issuer.token(for: scene.tokenChallenge(context))
        scene.engine.clock.advance(by: .seconds(301))
        #expect(await scene.exchange(late, challenge).status != nil)
    }

    @Test("Keys that the policy does not have, or no longer accepts, are refused")
    func keys() async throws {
        let stranger = try SimulatedTokenIssuer()
        #expect(
            await scene.spend(try stranger.token(for: scene.tokenChallenge())).reason == PrivacyPassReasons.keyUnknown)
        let former = try scene.former.token(for: scene.tokenChallenge(issuer: scene.former.name))
        #expect(await scene.spend(former).reason == PrivacyPassReasons.keyEnded)
        // A stranger's signature under the name of the issuer's key.
        let forged = try stranger.token(for: scene.tokenChallenge()) {
            $0.replaceSubrange(66..<98, with: SHA256.hash(scene.issuer.tokenKey))
        }
        #expect(await scene.spend(forged).reason == PrivacyPassReasons.signature)
    }

    @Test("A salt of any other length makes the signature invalid", arguments: [0, 1, 32, 47, 49, 64])
    func salts(_ count: Int) async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge(), saltCount: count)
        #expect(await scene.spend(token).reason == PrivacyPassReasons.signature)
    }

    @Test("Credentials of another form are malformed")
    func credentials() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        let text = SimulatedTokenText.padded(token)
        let standard = Base64.encode([0xFB, 0xFF] + token)
        let values: [JSON] = [
            "PrivateToken", "PrivateToken ", "PrivateToken token=", "PrivateToken token=\"",
            "PrivateToken token=\"\"\"",
            .string("PrivateToken token='\(text)'"), .string("PrivateToken token=\"\(text)\","),
            .string("PrivateToken token=\(text) x"), .string("PrivateToken token=\"\(text)"),
            .string("PrivateToken token=\(text), Token=\(text)"), .string("PrivateToken token=\(text)\""),
            .string("PrivateToken \"\(text)\""), .string("PrivateToken other=\"\(text)\""),
            .string("PrivateToken token=\"\(text)\", token=\"\(text)\""),
            .string("PrivateToken token=\"\(text)\"; a=b"),
            .string("PrivateToken token=\"\(text)\" x"), .string("PrivateToken token=\"\\\(text)\""),
            .string("PrivateToken token=\"\(text)=\""), .string("PrivateToken token=\"\(standard)\""),
            .string("PrivateToken token=\"\(text) \""),
            .string("PrivateToken token=\"\(text)\" " + String(repeating: " ", count: 1000)),
            [.string("PrivateToken token=\"\(text)\""), .string("PrivateToken token=\"\(text)\"")],
        ]
        for value in values { #expect(await send(value).reason == PrivacyPassReasons.malformed, "\(value)") }
        for value: JSON in ["", "Bearer abc", .string(text), .string("PrivateTokens token=\"\(text)\""), []] {
            #expect(await send(value).reason == PrivacyPassReasons.missing, "\(value)")
        }
        for value: JSON in [5, ["a": "b"], [5], ["a", "b", "c", "d", "e"]] {
            #expect(await send(value).status == .invalidArgument)
        }
        #expect(await scene.spend(token).status == nil)
    }

    @Test("Random bytes never get a token, and are never a fault")
    func random() async throws {
        let token = try scene.issuer.token(for: scene.tokenChallenge())
        let random = Randomness.seeded(9577)
        for _ in 0..<300 {
            let bytes = random.bytes(4)
            var changed = token
            let (start, count) = (Int(bytes[0]) * 354 / 256, Int(bytes[1]) % 8)
            changed.replaceSubrange(start..<min(354, start + count), with: random.bytes(Int(bytes[2]) % 8))
            guard changed != token else { continue }
            let reply = await scene.spend(changed)
            #expect(reply.reason.map(PrivacyPassReasons.all.contains) == true)
            let text = "PrivateToken token=\"" + String(decoding: random.bytes(Int(bytes[3])), as: UTF8.self) + "\""
            #expect(await send(.string(text)).status != .internalError)
        }
    }

    @Test(
        "Sections with errors are refused at their place",
        arguments: [
            ("issuers: []\norigins: [a.example.com]", "issuers"),
            ("issuers: [{name: \"a b\", keys: [KEY]}]\norigins: [a.example.com]", "issuers[0].name"),
            ("issuers: [{name: a.example.com, keys: []}]\norigins: [a.example.com]", "issuers[0].keys"),
            ("issuers: [{name: a.example.com, keys: [KEY, KEY]}]\norigins: [a.example.com]", "issuers[0].keys[1]"),
            (
                "issuers: [{name: a.example.com, keys: [KEY]}, {name: a.example.com, keys: [OTHER]}]\norigins: [a.example.com]",
                "issuers[1].name"
            ),
            ("issuers: [{name: a.example.com, keys: [{token_key: \"%\"}]}]\norigins: [a.example.com]", "token_key"),
            (
                "issuers: [{name: a.example.com, keys: [{token_key: \"PLAIN\"}]}]\norigins: [a.example.com]",
                "id-RSASSA-PSS"
            ),
            (
                "issuers: [{name: a.example.com, keys: [{token_key: \"LONG\"}]}]\norigins: [a.example.com]",
                "expected 2048"
            ),
            ("issuers: [{name: a.example.com, keys: [{file: \"env:NONE\"}]}]\norigins: [a.example.com]", "file"),
            ("issuers: [{name: a.example.com, keys: [{}]}]\norigins: [a.example.com]", "issuers[0].keys[0]"),
            ("issuers: [{name: a.example.com, keys: [KEY]}]\norigins: []", "origins"),
            ("issuers: [{name: a.example.com, keys: [KEY]}]\norigins: [\"a,b\"]", "origins[0]"),
            ("issuers: [{name: a.example.com, keys: [KEY]}]\norigins: [a.example.com, a.example.com]", "origins[1]"),
            ("issuers: [{name: a.example.com, keys: [KEY]}]\norigins: [a.example.com]\ncontexts: []", "contexts"),
            ("issuers: [{name: a.example.com, keys: [KEY]}]\norigins: [a.example.com]\ncontexts: [some]", "contexts"),
        ])
    func configuration(_ section: String, _ place: String) throws {
        func plain(_ bits: Int) throws -> RSAPublicKey {
            guard case .rsa(let key) = try PrivateKey.generate(.rsa(bits: bits)).publicKey else {
                throw CryptoError(.invalidKey, "no RSA key")
            }
            return key
        }
        var text = section.replacing("KEY", with: "{token_key: \"\(Base64.encode(scene.issuer.tokenKey))\"}")
            .replacing("OTHER", with: "{token_key: \"\(Base64.encode(scene.former.tokenKey))\"}")
        if text.contains("PLAIN") {
            let der = try PEM.decode("PUBLIC KEY", in: PublicKey.rsa(plain(2048)).pem())
            text = text.replacing("PLAIN", with: Base64.encode(der))
        }
        if text.contains("LONG") {
            text = text.replacing("LONG", with: Base64.encode(BlindRSAPublicKey(try plain(3072)).subjectPublicKeyInfo))
        }
        let indented = text.split(separator: "\n").map { "  \($0)" }.joined(separator: "\n")
        #expect {
            _ = try TestEngine(
                [.provider(PrivacyPassProvider.self)],
                policy: TestEngine.policy(providers: "privacy_pass:\n\(indented)"))
        } throws: { "\($0)".contains(place) }
    }
}
