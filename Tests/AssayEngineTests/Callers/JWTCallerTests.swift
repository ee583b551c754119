import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Logging
import Testing

private let now = Instant(seconds: 1_795_000_000)
private let issuerName = "https://login.example.com/"

/// What a token says otherwise than a good one, and whether that takes its good away.
private let badClaims: [JSON] = [
    ["iss": "https://login.example.com"], ["iss": nil], ["sub": "somebody"], ["sub": nil], ["aud": "another"],
    ["aud": nil], ["exp": 1_794_999_000], ["exp": nil], ["exp": 1_795_900_000], ["nbf": 1_795_000_600],
    ["iat": 1_795_000_600], ["env": "test"], ["env": nil],
]

@Suite("Callers that show the JWT of a trusted issuer")
struct JWTCallerTests {
    private static let app = "projects/example-project/apps/1:1234567890:ios:321abc456def7890"

    private let key: PrivateKey
    private let sink = RecordingSink()
    private let clock = ManualClock(now)
    private let engine: Engine

    init() throws {
        key = try .generate(.ec(.p256))
        engine = try Self.engine(Self.callers(), key: key, sink: sink, clock: clock)
    }

    private static func callers(jwks: String = "env:JWKS") -> String {
        """
        callers:
          deployer:
            jwt:
              issuer: \(issuerName)
              audiences: [https://assay.example.com]
              jwks: \(jwks)
              subjects: [deployer@example.com]
              claims: {env: production}
            permissions: [notes.write]
          auditor:
            jwt:
              issuer: \(issuerName)
              audiences: [https://assay.example.com]
              jwks: \(jwks)
              subjects: [auditor@example.com]
            permissions: [admin]
        """
    }

    private static func policies(_ callers: String) throws -> PolicySet {
        let text = """
            \(callers)
            projects:
              - number: 1234567890
                id: example-project
                apps: [{id: "1:1234567890:ios:321abc456def7890", providers: {notes: {}}}]
            """
        return try .load([PolicyFile(name: "test.yaml", text: text)])
    }

    private static func engine(
        _ callers: String, key: PrivateKey, sink: RecordingSink = RecordingSink(),
        clock: ManualClock = ManualClock(now),
        http: any OutboundHTTP = NoOutboundHTTP()
    ) throws -> Engine {
        let document = JWKSet([JWK(signing: key.publicKey, keyID: "one")]).json.encoded
        let secrets = SecretSource { (reference) throws(SecretError) in
            reference.place == .environment("JWKS") ? document : nil
        }
        return try Engine(
            registry: Registry([.provider(NotesProvider.self)]),
            policies: policies(callers), keys: .pooled(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock), secrets: secrets, http: http,
                logger: TestService.silent), sink: sink)
    }

    private func token(_ claims: JSON = [:], key: PrivateKey? = nil, keyID: String = "one") throws -> String {
        var all: [JSONMember] = [
            JSONMember("iss", .string(issuerName)), JSONMember("sub", "deployer@example.com"),
            JSONMember("aud", "https://assay.example.com"), JSONMember("iat", .integer(now.seconds)),
            JSONMember("exp", .integer(now.seconds + 300)), JSONMember("env", "production"),
        ]
        for member in claims.members ?? [] {
            all.removeAll { $0.name == member.name }
            if member.value != .null { all.append(member) }
        }
        return try JWSSigner(key: key ?? self.key, keyID: keyID, algorithm: .es256)
            .sign(payload: JSON.object(all).encoded)
    }

    private func call(_ method: String, _ token: String, _ engine: Engine? = nil) async throws -> StatusCode? {
        let body: JSON = ["noteId": "a", "note": ["text": "hello"]]
        let credentials = try #require(BearerToken(token))
        let reply = await (engine ?? self.engine).handle(
            Call(method, resource: Self.app, body: body, credentials: credentials))
        if case .failure(let failure) = reply.result { return failure.status }
        return nil
    }

    @Test("A good token is its caller's, and its subject is on record")
    func good() async throws {
        #expect(try await call("putNote", token()) == nil)
        #expect(sink.records.last?.caller == "deployer")
        #expect(sink.records.last?.facts.contains(Fact(.callerSubject, .text("deployer@example.com"))) == true)
        // The same issuer has another caller, who may do other things.
        #expect(try await call("getNote", token()) == .permissionDenied)
        #expect(try await call("getNote", token(["sub": "auditor@example.com"])) == nil)
        #expect(sink.records.last?.caller == "auditor")
    }

    @Test("A token that does not say what it must is nobody's", arguments: badClaims)
    func bad(claims: JSON) async throws {
        #expect(try await call("putNote", token(claims)) == .unauthenticated)
        #expect(sink.records.last?.caller == nil)
    }

    @Test(
        "The record explains what is wrong with a token, and the caller is told nothing of it",
        arguments: [
            (["sub": "somebody"], "for deployer, auditor: its 'sub' is 'somebody', none of the policy's `subjects`"),
            (["sub": nil], "its 'sub' is missing"),
            (["aud": "another"], "its 'aud' is 'another', expected 'https://assay.example.com'"),
            (["exp": 1_794_999_000], "it expired at 2026-11-18T10:50:00Z, and it is 2026-11-18T11:06:40Z"),
            (["nbf": 1_795_000_600], "it is not valid before 2026-11-18T11:16:40Z, and it is 2026-11-18T11:06:40Z"),
            (["exp": 1_795_900_000], "it is valid until "), (["exp": nil], "its 'exp' is missing"),
            (
                ["env": "test"],
                "for deployer: its 'env' is 'test', not what the policy's `claims` say; for auditor: its 'sub' is"
            ),
            (["iss": "https://other.example.com/"], "no caller uses JWTs of the issuer 'https://other.example.com/'"),
            (["iss": nil], "nor a JWT that names its issuer"),
        ] as [(JSON, String)])
    func explained(claims: JSON, words: String) async throws {
        let text = try token(claims)
        let reply = await engine.handle(
            Call("putNote", resource: Self.app, body: ["noteId": "a"], credentials: BearerToken(text)))
        guard case .failure(let failure) = reply.result else {
            Issue.record("it is let in")
            return
        }
        #expect(failure.message == "Request is missing a valid authentication credential: expected a bearer token.")
        let detail = try #require(sink.records.last?.detail)
        #expect(detail.contains(words), "\(detail)")
        for part in text.split(separator: ".") { #expect(!detail.contains(part)) }
    }

    @Test("The record explains signatures, keys and credentials that are no JWT, too, and shows none of them")
    func explainedSignatures() async throws {
        let good = try token()
        let parts = good.split(separator: ".").map(String.init)
        let none = Base64.encodeURL(JSON.object([JSONMember("alg", "none")]).encoded)
        for (text, words) in [
            (try token(key: .generate(.ec(.p256))), "its signature is wrong"),
            (try token(keyID: "two"), "the issuer has no key for the key identifier 'two'"),
            ("\(none).\(parts[1]).AAAA", "nor a JWT that names its issuer"),
            ("unknown-token-0123456789", "the bearer token is neither that of a caller nor a JWT"),
        ] {
            #expect(try await call("putNote", text) == .unauthenticated)
            let detail = try #require(sink.records.last?.detail)
            #expect(detail.contains(words), "\(detail)")
            for part in text.split(separator: ".") { #expect(!detail.contains(part)) }
        }
        let long = try token(["sub": .string(String(repeating: "s\u{202E}", count: 500))])
        #expect(try await call("putNote", long) == .unauthenticated)
        #expect(try #require(sink.records.last?.detail).utf8.count < 300)
        _ = await engine.handle(Call("putNote", resource: Self.app, body: ["noteId": "a"]))
        #expect(sink.records.last?.detail == "the request has no bearer token")
    }

    @Test("A token is nobody's that the issuer did not sign, or not as its key says")
    func signatures() async throws {
        let good = try token()
        let parts = good.split(separator: ".").map(String.init)
        let payload = try #require(parts.dropFirst().first)
        let header = { (json: JSON) in Base64.encodeURL(json.encoded) }
        let none = header(["alg": "none", "kid": "one"])
        // The public key as a secret: what a verifier that trusts the header would take.
        let symmetric = header(["alg": "HS256", "kid": "one"])
        let bad = [
            try token(key: .generate(.ec(.p256))), try token(key: .generate(.ec(.p256)), keyID: "two"),
            "\(none).\(payload).", "\(none).\(payload).AAAA", "\(symmetric).\(payload).\(parts[2])",
            "\(parts[0]).\(payload)", "\(good).", String(good.dropLast(4)), "a.b.c", "...",
            "\(parts[0]).\(payload).\(String(repeating: "A", count: 12_000))",
        ]
        for token in bad { #expect(try await call("putNote", token) == .unauthenticated, "\(token.prefix(60))") }
        clock.advance(by: .seconds(600))
        #expect(try await call("putNote", good) == .unauthenticated)
    }

    @Test("While the issuer's keys cannot be had, it is not said that a token is bad; others are answered as ever")
    func withoutKeys() async throws {
        let engine = try Self.engine(Self.callers(jwks: "https://login.example.com/jwks"), key: key, clock: clock)
        #expect(try await call("putNote", token(), engine) == .unavailable)
        #expect(try await call("putNote", token(["iss": "https://other.example.com/"]), engine) == .unauthenticated)
        #expect(try await call("putNote", "unknown-token-0123456789", engine) == .unauthenticated)
    }

    @Test(
        "A caller that cannot be is refused at its place",
        arguments: [
            ("{issuer: a, audiences: [b], jwks: env:JWKS}", "without `subjects` or `claims`"),
            ("{issuer: a, audiences: [], jwks: env:JWKS, subjects: [c]}", "without an audience"),
            ("{issuer: a, audiences: [b], jwks: env:NONE, subjects: [c]}", "env:NONE is not set"),
            ("{issuer: a, audiences: [b], jwks: 'http://a.example.com', subjects: [c]}", "expected an https URL"),
            ("{issuer: a, audiences: [b], subjects: [c]}", "jwks"),
            ("{issuer: a, audiences: [b], jwks: env:JWKS, subject: [c]}", "unknown key `subject`"),
        ])
    func refused(section: String, message: String) throws {
        let error = #expect(throws: Diagnostics.self) {
            try Self.engine("callers:\n  root: {jwt: \(section), permissions: [admin]}", key: key)
        }
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
        #expect(error?.description.contains("test.yaml:2:") == true, "\(error?.description ?? "")")
    }

    @Test("All callers of an issuer have one set of keys: fetched once, for unknown keys too, and kept by a reload")
    func oneSet() async throws {
        let document = JWKSet([JWK(signing: key.publicKey, keyID: "one")]).json.encoded
        let answers = (0..<64).map { _ in ScriptedHTTP.Answer.success(OutboundResponse(status: 200, body: document)) }
        let http = ScriptedHTTP(answers)
        let callers =
            "callers:\n"
            + (0..<16).map { index in
                """
                  c\(index):
                    jwt:
                      issuer: \(issuerName)
                      audiences: [https://assay.example.com]
                      jwks: https://login.example.com/jwks
                      subjects: [user-\(index)]
                    permissions: [admin]

                """
            }.joined()
        let engine = try Self.engine(callers, key: key, sink: sink, clock: clock, http: http)
        for index in 0..<16 {
            #expect(try await call("putNote", token(["sub": .string("user-\(index)")]), engine) == nil)
        }
        #expect(http.requests.count == 1)
        clock.advance(by: .seconds(31))
        for _ in 0..<3 { #expect(try await call("putNote", token(keyID: "two"), engine) == .unauthenticated) }
        #expect(http.requests.count == 2)
        try engine.replacePolicies(Self.policies(callers))
        #expect(try await call("putNote", token(["sub": "user-15"]), engine) == nil)
        #expect(http.requests.count == 2)
    }

    @Test("Two callers of one issuer cannot have different keys")
    func otherKeys() throws {
        let callers = Self.callers().replacing(
            "jwks: env:JWKS\n      subjects: [auditor",
            with: "jwks: https://login.example.com/jwks\n      subjects: [auditor")
        let error = #expect(throws: Diagnostics.self) { try Self.engine(callers, key: key) }
        let text = error?.description ?? ""
        #expect(text.contains("test.yaml:14:") && text.contains("the caller deployer has the same issuer"), "\(text)")
    }

    @Test("A caller shows either a secret or a JWT, and an issuer has a few callers at most")
    func limits() throws {
        let jwt = "jwt: {issuer: a, audiences: [b], jwks: env:JWKS, subjects: [c]}"
        let both = #expect(throws: Diagnostics.self) {
            try Self.engine("callers:\n  root: {token: env:JWKS, \(jwt), permissions: [admin]}", key: key)
        }
        #expect(both?.description.contains("only one") == true, "\(both?.description ?? "")")
        func callers(_ count: Int) -> String {
            "callers:\n" + (0..<count).map { "  c\($0): {\(jwt), permissions: [admin]}\n" }.joined()
        }
        _ = try Self.engine(callers(16), key: key)
        let many = #expect(throws: Diagnostics.self) { try Self.engine(callers(17), key: key) }
        #expect(many?.description.contains("at most 16 callers") == true, "\(many?.description ?? "")")
    }
}
