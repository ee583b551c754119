import AssayCore
import AssayCrypto
import AssayCustomBackend
import AssayEngine
import AssayFleetEngine
import AssayKit
import AssayOAuthClient
import AssayPolicy
import AssayServices
import AssayTesting
import Logging
import Testing

/// An engine whose project has every kind of place that takes tokens.
struct PlacesService: Sendable {
    static let app = "1:1234567890:ios:321abc456def7890"
    static let secondApp = "1:1234567890:ios:0000000000000002"
    static let client = "1234567890-example.apps.googleusercontent.com"
    static let admin = "admin-token-0123456789"
    static let server = "https://login.example.com"
    static let fleet = "https://fleetengine.googleapis.com/"
    private static let users = "https://users.example.com/"
    private static let jwt: JSON = "urn:ietf:params:oauth:token-type:jwt"
    private static let keyPair = Result { try PrivateKey.generate(.ec(.p256)) }
    private static let account = Result { try PrivateKey.generate(.rsa(bits: 2048)) }

    let clock: ManualClock
    let sink = RecordingSink()
    let store: FailingStore
    let engine: Engine
    let user: String

    /// - Parameters:
    ///   - verification: the section `verification`.
    ///   - blockingReason: what keeps the engine from deciding.
    init(
        verification: String = "{}", clock: ManualClock = ManualClock(), keys: KeyStore = .pooled(),
        store: (any StateStore)? = nil, blockingReason: (@Sendable () -> String?)? = nil,
        randomness: Randomness = .system
    ) throws {
        let users = try Self.keyPair.get()
        let secrets = [
            "env:FLEET": try Self.accountFile(),
            "env:USERS": JWKSet([JWK(signing: users.publicKey, keyID: "u1")]).json.encoded,
        ]
        self.clock = clock
        self.store = FailingStore(store ?? MemoryStore(clock: clock.hostClock))
        engine = try Engine(
            registry: Registry(
                [
                    .provider(WordProvider.self), .consumer(CustomBackendConsumer.self),
                    .consumer(OAuthClientConsumer.self), .consumer(FleetEngineConsumer.self),
                ], administration: .api),
            policies: .load([PolicyFile(name: "test.yaml", text: Self.policy(verification))]), keys: keys,
            host: PluginHost(
                clock: clock.hostClock, randomness: randomness, store: self.store,
                secrets: SecretSource { secrets[$0.description] },
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })), sink: sink,
            options: Engine.Options(blockingReason: blockingReason))
        let claims: JSON = [
            "iss": .string(Self.users), "sub": "user-1", "aud": "https://assay.example.com", "van": "v",
            "exp": .integer(clock.now.seconds + 600), "iat": .integer(clock.now.seconds),
        ]
        user = try JWSSigner(key: users, keyID: "u1", algorithm: .es256).sign(payload: claims.encoded)
    }

    private static func accountFile() throws -> [UInt8] {
        let pem = String(decoding: try account.get().pem().withUnsafeBytes { Array($0) }, as: UTF8.self)
        let file: JSON = [
            "type": "service_account", "project_id": "example-project", "private_key_id": "0a1b2c",
            "private_key": .string(pem), "client_email": "fleet@example-project.iam.gserviceaccount.com",
            "client_id": "100000000000000000001", "token_uri": "https://oauth2.googleapis.com/token",
        ]
        return file.encoded
    }

    private static func policy(_ verification: String) -> String {
        let caller = { (token: String) in Hex.encode(SHA256.hash(Array(token.utf8))) }
        return """
            tokens: {algorithm: ES256}
            callers:
              admin: {sha256: \(caller(admin)), permissions: [admin]}
              first: {sha256: \(caller("first-token-0123456789")), permissions: [tokens.mint]}
              second: {sha256: \(caller("second-token-0123456789")), permissions: [tokens.mint]}
            projects:
              - number: 1234567890
                id: example-project
                verification: \(verification)
                services:
                  plain.example.com: {enforcement: ENFORCED}
                  counted.example.com: {enforcement: ENFORCED, replay_protection: UNENFORCED}
                  once.example.com: {enforcement: ENFORCED, replay_protection: ENFORCED}
                  watched.example.com: {enforcement: UNENFORCED, replay_protection: UNENFORCED}
                  open.example.com: {enforcement: "OFF"}
                  clients.example.com: {enforcement: ENFORCED, accept_oauth_clients: true}
                  oauth2.googleapis.com: {enforcement: ENFORCED}
                  apart: {enforcement: ENFORCED, replay_protection: ENFORCED, consumption: separate}
                  second_apart: {enforcement: ENFORCED, replay_protection: ENFORCED, consumption: separate}
                  unprotected: {enforcement: ENFORCED, consumption: separate}
                consumers:
                  custom_backend:
                    backends:
                      plain: {}
                      counted: {tokens: {replay_protection: UNENFORCED}}
                      once: {tokens: {replay_protection: ENFORCED}}
                      watched: {tokens: {enforcement: UNENFORCED, replay_protection: ENFORCED}}
                      open: {tokens: {enforcement: "OFF"}}
                      clients: {tokens: {accept_oauth_clients: true}}
                      named: {tokens: {apps: ["\(client)"]}}
                  oauth_client:
                    authorization_servers: ["\(server)"]
                    clients: {"\(app)": mapped-client}
                    attester: {}
                    client_assertion: {limited_use: false}
                    introspection: {}
                  fleet_engine:
                    actors: [{issuer: "\(users)", audiences: [https://assay.example.com], jwks: "env:USERS"}]
                    account: env:FLEET
                    token_ttl: 1h
                    roles: {driver: {vehicle: {claim: van}}}
                apps:
                  - {id: "\(app)", providers: {word: {}}}
                  - {id: "\(secondApp)", providers: {word: {}}}
                oauth_clients: [{id: \(client), app: "\(app)"}]
              - number: 2
                id: other-project
                apps: [{id: "1:2:ios:ab", providers: {}}]
            """
    }

    func call(
        _ method: String, _ body: JSON, resource: String = "", token: String? = nil, as caller: String? = nil
    ) async -> Reply {
        await engine.handle(
            Call(
                method, resource: resource, body: body, credentials: caller.flatMap { BearerToken($0) },
                token: token.flatMap { PresentedToken([$0]) }))
    }

    /// A fresh token, with a `jti` that the caller chooses or a random one.
    func token(
        limitedUse: Bool = true, id: String? = nil, for app: String = app, of project: String = "1234567890",
        as caller: String = admin
    ) async throws -> String {
        let config: JSON = id.map { ["jti": .string($0)] } ?? [:]
        let reply = await call(
            "mintAppCheckToken", limitedUse ? ["limitedUseConfig": config] : [:],
            resource: "projects/\(project)/apps/\(app)", as: caller)
        return try #require(try reply.result.get()["token"]?.string)
    }

    func introspect(_ token: String) async throws -> Bool {
        let reply = await call(
            "introspectToken", ["token": .string(token), "audience": .string(Self.server)], as: Self.admin)
        return try reply.result.get()["active"] == true
    }

    func exchange(_ token: String, _ fields: JSON, actor: String? = nil) async -> Reply {
        var members = [
            JSONMember("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            JSONMember("subject_token", .string(token)), JSONMember("subject_token_type", Self.jwt),
        ]
        members += fields.members ?? []
        if let actor {
            members += [JSONMember("actor_token", .string(actor)), JSONMember("actor_token_type", Self.jwt)]
        }
        return await call("exchangeToken", .object(members))
    }
}

/// A provider that takes a client's word.
struct WordProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        /// Whose word it is.
        let holder: String?

        init(_ fields: RequestFields) throws(InvalidRequest) {
            holder = try fields.optionalString("holder")
        }
    }

    static let descriptor = PluginDescriptor.provider(name: "word", summary: "A client's word.", reasons: [])
    static let methods: [ProviderMethod<WordProvider>] = [
        .exchange("exchangeWord", resources: [.app, .oauthClient], takesTokenID: true) {
            (provider, request: Request, context) in .verified(Appraisal(holder: request.holder))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

extension Reply {
    /// The code of the reason for a refusal.
    var reason: String? {
        if case .failure(let failure) = result { failure.reason?.code } else { nil }
    }
}
