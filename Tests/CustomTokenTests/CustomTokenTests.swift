import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Foundation
import Logging
import Testing

@testable import AssayCustomToken

@Suite("Custom tokens")
struct CustomTokenTests {
    private static let app = "projects/example-project/apps/1:1234567890:web:321abc456def7890"
    private static let email = "signer@example-project.iam.gserviceaccount.com"

    private let clock = ManualClock()
    private let sink = RecordingSink()
    private let account: PrivateKey
    private let issuer: PrivateKey
    private let engine: Engine

    init() throws {
        account = try .generate(.rsa(bits: 2048))
        issuer = try .generate(.ec(.p256))
        let pem = String(decoding: try account.publicKey.pem(), as: UTF8.self)
        let section = """
            service_accounts: [{email: \(Self.email), public_key: "\(pem.replacing("\n", with: "\\n"))"}]
            issuers:
              - issuer: https://login.example.com/
                audiences: [https://assay.example.com]
                jwks: env:JWKS
                app_claim: app.id
            """
        let document = JWKSet([JWK(signing: issuer.publicKey, keyID: "k")]).json.encoded
        engine = try Self.engine(
            section, clock: clock, sink: sink,
            secrets: SecretSource { (reference) throws(SecretError) in
                reference.description == "env:JWKS" ? document : nil
            })
    }

    private static func engine(
        _ section: String, clock: ManualClock = ManualClock(), sink: RecordingSink = RecordingSink(),
        secrets: SecretSource = .system
    ) throws -> Engine {
        let lines = section.split(separator: "\n").map { "              " + $0 }.joined(separator: "\n")
        let text = """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: 1:1234567890:web:321abc456def7890
                    providers:
                      custom:
            \(lines)
            """
        return try Engine(
            registry: Registry([.provider(CustomTokenProvider.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), secrets: secrets,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), sink: sink)
    }

    /// What an Admin SDK's `createToken` makes, but for the claims that a test sets.
    private func token(_ claims: JSON = [:], key: PrivateKey? = nil) throws -> String {
        let now = clock.now.seconds
        var all: [(String, JSON)] = [
            ("iss", .string(Self.email)), ("sub", .string(Self.email)),
            ("app_id", "1:1234567890:web:321abc456def7890"), ("aud", .string(ServiceAccount.audience)),
            ("exp", .integer(now + 300)), ("iat", .integer(now)),
        ]
        for member in claims.members ?? [] {
            all.removeAll { $0.0 == member.name }
            if member.value != .null { all.append((member.name, member.value)) }
        }
        return try sign(
            header: ["alg": "RS256", "typ": "JWT"], JSON.object(all.map { JSONMember($0.0, $0.1) }), key ?? account)
    }

    private func sign(header: JSON, _ payload: JSON, _ key: PrivateKey) throws -> String {
        let input = Base64.encodeURL(header.encoded) + "." + Base64.encodeURL(payload.encoded)
        let signature = try key.sign(Array(input.utf8), as: .raw)
        return input + "." + Base64.encodeURL(signature)
    }

    private func exchange(_ token: String) async -> Result<JSON, CallFailure> {
        await engine.handle(
            Call("exchangeCustomToken", resource: Self.app, body: ["customToken": .string(token)])
        ).result
    }

    private func reason(_ result: Result<JSON, CallFailure>) -> Reason? {
        if case .failure(let failure) = result { failure.reason } else { nil }
    }

    @Test("a service account's token is exchanged, and who signed it is on record")
    func serviceAccount() async throws {
        let reply = try await exchange(try token()).get()
        #expect(reply["ttl"] == "3600s")
        #expect(sink.records.last?.facts.contains(Fact(.customTokenIssuer, .text(Self.email))) == true)
    }

    @Test("the payload that the article shows is accepted at its time, with its lifetime")
    func documentedPayload() async throws {
        let article = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Plugins/Providers/CustomToken/CustomToken.docc/CustomToken.md")
            .standardizedFileURL
        let text = try String(contentsOf: article, encoding: .utf8)
        let block = try #require(
            text.components(separatedBy: "```json\n").dropFirst().first?.components(separatedBy: "```").first)
        let payload = try JSON.parse(Array(block.utf8))
        let pem = String(decoding: try account.publicKey.pem(), as: UTF8.self).replacing("\n", with: "\\n")
        let email = try #require(payload["iss"]?.string)
        guard case .integer(let issued)? = payload["iat"] else { throw ConfigurationError("`iat` is no integer") }
        let engine = try Self.engine(
            "service_accounts: [{email: \(email), public_key: \"\(pem)\"}]",
            clock: ManualClock(Instant(seconds: issued)))
        let token = try sign(header: ["alg": "RS256"], payload, account)
        let reply = await engine.handle(
            Call("exchangeCustomToken", resource: Self.app, body: ["customToken": .string(token)]))
        #expect(try reply.result.get()["ttl"] == payload["ttl"])
        // An article that left a claim out would not be complete: each of them is needed but `ttl`.
        for name in payload.members?.map(\.name) ?? [] where name != "ttl" {
            let lacking = JSON.object(payload.members?.filter { $0.name != name } ?? [])
            let refused = await engine.handle(
                Call(
                    "exchangeCustomToken", resource: Self.app,
                    body: ["customToken": .string(try sign(header: ["alg": "RS256"], lacking, account))]))
            #expect(throws: CallFailure.self, "\(name)") { try refused.result.get() }
        }
    }

    @Test("each rule of such tokens has its own reason", arguments: demands)
    func rules(claims: JSON, expected: Reason) async throws {
        #expect(reason(await exchange(try token(claims))) == expected)
    }

    @Test("a chosen identifier is told apart by whose custom token it is, so that no user uses up another's token")
    func holders() async throws {
        func chooser(_ token: String) async throws -> String {
            let body: JSON = ["customToken": .string(token), "limitedUse": true, "jti": "order-0123456789"]
            let reply = await engine.handle(Call("exchangeCustomToken", resource: Self.app, body: body))
            let text = try #require(try reply.result.get()["token"]?.string)
            let payload = try #require(text.split(separator: ".").dropFirst().first.flatMap { Base64.decode($0) })
            return try #require(try JSON.parse(payload)["jti_by"]?.string)
        }
        func user(_ subject: String) throws -> String {
            let claims: JSON = [
                "iss": "https://login.example.com/", "sub": .string(subject), "aud": "https://assay.example.com",
                "app": ["id": "1:1234567890:web:321abc456def7890"], "exp": .integer(clock.now.seconds + 300),
            ]
            return try sign(header: ["alg": "ES256", "typ": "JWT", "kid": "k"], claims, issuer)
        }
        let server = try await chooser(token())
        let first = try await chooser(user("user-1"))
        #expect(try await chooser(token()) == server)
        #expect(try await chooser(user("user-1")) == first)
        let second = try await chooser(user("user-2"))
        #expect(Set([server, first, second].map { ExactText($0) }).count == 3)
    }

    @Test(
        "the token says how long the session token lives, in the form of protobuf's durations, as Admin SDKs write them",
        arguments: [
            ("1800s", "1800s"), ("1800.001000000s", "1800s"), ("1800.5s", "1800s"), ("3600.999999999s", "3600s"),
            ("604800.000s", "604800s"),
        ])
    func ownLifetime(asked: String, given: JSON) async throws {
        #expect(try await exchange(try token(["ttl": .string(asked)])).get()["ttl"] == given)
    }

    @Test("the record says what was expected and what was found, and the client is not told", arguments: explained)
    func explanations(claims: JSON, words: [String]) async throws {
        guard case .failure(let failure) = await exchange(try token(claims)) else {
            Issue.record("it is exchanged")
            return
        }
        #expect(failure.message == "App attestation failed.")
        let detail = try #require(sink.records.last?.detail)
        for part in words { #expect(detail.contains(part), "\(detail)") }
        #expect(detail.utf8.count < 400 && detail.utf8.allSatisfy { (0x20..<0x7F).contains($0) }, "\(detail)")
    }

    @Test("five minutes are the longest life")
    func lifetime() async throws {
        let now = clock.now.seconds
        #expect(reason(await exchange(try token(["exp": .integer(now + 301)]))) == CustomTokenReasons.lifeTooLong)
        let issued: JSON = ["iat": .integer(now - 10), "exp": .integer(now + 300)]
        #expect(reason(await exchange(try token(issued))) == CustomTokenReasons.lifeTooLong)
        let good = try token()
        clock.advance(by: .seconds(299))
        _ = try await exchange(good).get()
        clock.advance(by: .seconds(1))
        #expect(reason(await exchange(good)) == CustomTokenReasons.expired)
    }

    @Test("another key's signature, another algorithm and no token at all are refused")
    func forgeries() async throws {
        let forged = try token(key: .generate(.rsa(bits: 2048)))
        #expect(reason(await exchange(forged)) == CustomTokenReasons.signature)
        let elliptic = try sign(
            header: ["alg": "ES256", "typ": "JWT"], ["iss": .string(Self.email)], issuer)
        #expect(reason(await exchange(elliptic)) == CustomTokenReasons.algorithm)
        let none = Base64.encodeURL(Array(#"{"alg":"none"}"#.utf8)) + "." + Base64.encodeURL(Array("{}".utf8)) + "."
        #expect(reason(await exchange(none)) == CustomTokenReasons.algorithm)
        #expect(reason(await exchange("x")) == CustomTokenReasons.malformed)
    }

    @Test("an issuer's token is exchanged when it names the app where the policy says")
    func issuerToken() async throws {
        let now = clock.now.seconds
        let payload: JSON = [
            "iss": "https://login.example.com/", "sub": "ci", "aud": "https://assay.example.com",
            "iat": .integer(now), "exp": .integer(now + 600), "app": ["id": "1:1234567890:web:321abc456def7890"],
        ]
        let header: JSON = ["alg": "ES256", "typ": "JWT", "kid": "k"]
        _ = try await exchange(try sign(header: header, payload, issuer)).get()
        #expect(sink.records.last?.facts.contains(Fact(.customTokenSubject, .text("ci"))) == true)
        let other: JSON = ["alg": "ES256", "typ": "JWT", "kid": "other"]
        #expect(reason(await exchange(try sign(header: other, payload, issuer))) == CustomTokenReasons.keyUnknown)
    }

    @Test(
        "a section that trusts nobody, or somebody in no way that holds, is refused at its place",
        arguments: [
            ("{}", "expected `service_accounts` or `issuers`"),
            (
                "service_accounts: [{email: a@example.com}]",
                "expected one of `certificate`, `public_key` and `key_file`"
            ),
            ("service_accounts: [{email: a@example.com, public_key: x}]", "the key cannot be used"),
            ("service_accounts: [{email: a@example.com, certificate: x}]", "the key cannot be used"),
            ("service_accounts: [{key_file: \"env:ASSAY_NO_SUCH_VARIABLE\"}]", "is not set"),
            ("service_accounts: [{key_file: raw}]", "refer to it as env:NAME"),
            ("issuers: [{issuer: a, audiences: [b], jwks: c}]", "expected an https URL"),
            ("issuers: [{issuer: a, audiences: [b], jwks: \"https://a.example.com\", app: x}]", "unknown key `app`"),
        ])
    func sections(section: String, message: String) throws {
        let error = #expect(throws: Diagnostics.self) { try Self.engine(section) }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("test.yaml:") == true)
    }
}

/// Claims that are wrong, and what the record says of them.
private let explained: [(JSON, [String])] = [
    (
        ["iss": "https://other.example.com/"],
        ["'https://other.example.com/'", "expected 'https://login.example.com/' or 'signer@example-project.iam"]
    ),
    (
        ["aud": "https://firebaseappcheck.googleapis.com/"],
        ["'https://firebaseappcheck.googleapis.com/'", "expected '\(ServiceAccount.audience)'"]
    ),
    (["aud": nil], ["its 'aud' is missing", "expected"]),
    (["sub": "other@example.com"], ["its 'sub' is 'other@example.com'", "expected 'signer@"]),
    (["iss": .string(String(repeating: "i\u{202E}", count: 400))], ["its 'iss' is 'i?i?", "expected"]),
    (["iss": nil], ["its 'iss' is missing"]),
    (["app_id": "1:1:web:1"], ["its 'app_id' is '1:1:web:1'", "expected '1:1234567890:web:321abc456def7890'"]),
    (["app_id": nil], ["its 'app_id' is missing"]), (["iat": nil], ["its 'iat' is missing"]),
    (["ttl": "1h"], ["its 'ttl' is not a duration from 1800s to 604800s"]),
    (["exp": 1], ["it expired at 1970-01-01T00:00:01Z"]),
]

/// Claims that are wrong, and what is said of them.
private let demands: [(JSON, Reason)] = [
    (["app_id": "1:1234567890:web:0000000000000001"], CustomTokenReasons.app),
    (["app_id": nil], CustomTokenReasons.app), (["app_id": 5], CustomTokenReasons.app),
    (["aud": "https://firebaseappcheck.googleapis.com/"], CustomTokenReasons.audience),
    (["iss": "other@example.com"], CustomTokenReasons.issuer), (["iss": nil], CustomTokenReasons.malformed),
    (["sub": "other@example.com"], CustomTokenReasons.claim), (["iat": nil], CustomTokenReasons.claim),
    (["exp": nil], CustomTokenReasons.claim), (["ttl": 1800], CustomTokenReasons.claim),
    (["ttl": "half an hour"], CustomTokenReasons.claim), (["ttl": "1799s"], CustomTokenReasons.claim),
    (["ttl": "604801s"], CustomTokenReasons.claim), (["ttl": "604800.000000001s"], CustomTokenReasons.claim),
    (["ttl": "1799.999s"], CustomTokenReasons.claim), (["ttl": "1800.0000000001s"], CustomTokenReasons.claim),
    (["exp": 1], CustomTokenReasons.expired),
    (["iat": 4_000_000_000, "exp": 4_000_000_300], CustomTokenReasons.notYetValid),
]
