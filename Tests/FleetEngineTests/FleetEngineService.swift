import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayFleetEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import AssayTestSupport
import Testing

/// An engine whose project has the consumer, an app with a debug token, and users of an issuer.
struct FleetEngineService: Sendable {
    static let app = "1:1234567890:ios:321abc456def7890"
    static let audience = "https://fleetengine.googleapis.com/"
    private static let secret = "0B7C5A5E-3F0E-4C5D-9E0F-6A1B2C3D4E5F"
    private static let issuer = "https://login.example.com/"
    private static let jwt: JSON = "urn:ietf:params:oauth:token-type:jwt"

    let clock = ManualClock()
    let sink = RecordingSink()
    let http: ScriptedHTTP
    let engine: Engine
    private let users: PrivateKey

    init(_ roles: String, callback: Bool = false, answers: [ScriptedHTTP.Answer] = []) throws {
        let users = try PrivateKey.generate(.ec(.p256))
        self.users = users
        http = ScriptedHTTP(answers)
        let secrets: [String: [UInt8]] = [
            "env:FLEET": try TestAccounts.standard.get().bytes(), "env:CALLBACK": Array("callback-0123456789".utf8),
            "env:USERS": JWKSet([JWK(signing: users.publicKey, keyID: "u1")]).json.encoded,
        ]
        let text = """
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: \(Self.app)
                    providers:
                      debug: {tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: Self.secret)))}]}
                consumers:
                  fleet_engine:
                    tokens: {accept_development: true}
                    actors: [{issuer: "\(Self.issuer)", audiences: [https://assay.example.com], jwks: "env:USERS"}]
                    account: env:FLEET
                    \(callback ? FleetEngineScene.callback : "token_ttl: 1h")
                    roles: {\(roles)}
            """
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self), .consumer(FleetEngineConsumer.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .ephemeral(),
            host: PluginHost(
                clock: clock.hostClock, store: MemoryStore(clock: clock.hostClock),
                secrets: SecretSource { secrets[$0.description] }, http: http, logger: .silent), sink: sink)
    }

    /// An App Check token.
    func appToken(limitedUse: Bool = false) async throws -> String {
        let reply = await engine.handle(
            Call(
                "exchangeDebugToken", resource: "projects/1234567890/apps/\(Self.app)",
                body: ["debugToken": .string(Self.secret), "limitedUse": .bool(limitedUse)]))
        return try #require(try reply.result.get()["token"]?.string)
    }

    /// The JWT of a user with some claims.
    func user(_ claims: JSON) throws -> String {
        let standard: JSON = [
            "iss": .string(Self.issuer), "sub": "user-1", "aud": "https://assay.example.com",
            "exp": .integer(clock.now.seconds + 600), "iat": .integer(clock.now.seconds),
        ]
        return try JWSSigner(key: users, keyID: "u1", algorithm: .es256)
            .sign(payload: JSON.object((standard.members ?? []) + (claims.members ?? [])).encoded)
    }

    func exchange(_ token: String, _ fields: JSON, user: String?) async -> Reply {
        var members = [
            JSONMember("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            JSONMember("subject_token", .string(token)), JSONMember("subject_token_type", Self.jwt),
        ]
        members += fields.members ?? []
        if let user {
            members += [JSONMember("actor_token", .string(user)), JSONMember("actor_token_type", Self.jwt)]
        }
        return await engine.handle(Call("exchangeToken", body: .object(members)))
    }

    func open(_ method: String, _ fields: JSON, _ token: String?, user: String?) async -> Reply {
        await engine.handle(
            Call(
                method, body: fields, credentials: user.flatMap { BearerToken($0) },
                token: token.map { PresentedToken.one($0) }))
    }
}

extension Reply {
    var failure: CallFailure? {
        if case .failure(let failure) = result { failure } else { nil }
    }
}
