import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Testing

/// An engine with two projects whose policies have a consumer, and apps that have tokens for the asking.
struct ParcelService {
    static let app = "1:1234567890:ios:321abc456def7890"
    static let secondApp = "1:1234567890:android:0000000000000002"
    static let otherApp = "1:9876543210:ios:0000000000000009"
    static let client = "1234567890-example.apps.googleusercontent.com"
    static let bearer = "a-bearer-token-of-a-caller"
    static let audience = "https://parcels.example.com/"
    static let issuer = "https://login.example.com/"

    /// How the consumer's methods are made.
    enum Door: String, CaseIterable {
        case waiting = ""
        case immediate = "AtOnce"
    }

    let clock = ManualClock()
    let sink = RecordingSink()
    let store: FailingStore
    let users: PrivateKey
    let engine: Engine
    let door: Door

    /// - Parameter section: the section of the first project's consumer beside its audience.
    init(_ section: String = "", isAlone: Bool = false, door: Door = .waiting) throws {
        self.door = door
        let users = try PrivateKey.generate(.ec(.p256))
        let store = FailingStore(MemoryStore(clock: clock.hostClock))
        self.users = users
        self.store = store
        engine = try Engine(
            registry: Self.registry(),
            policies: .load([PolicyFile(name: "test.yaml", text: Self.policy(section, isAlone: isAlone))]),
            keys: .pooled(), host: Self.host(users, clock, store), sink: sink)
    }

    static func registry() throws -> Registry {
        try Registry(
            [.provider(VouchProvider.self), .provider(DebugProvider.self), .consumer(ParcelConsumer.self)],
            administration: .api)
    }

    static func host(_ users: PrivateKey, _ clock: ManualClock, _ store: any StateStore) -> PluginHost {
        let document = JWKSet([JWK(signing: users.publicKey, keyID: "u1")]).json.encoded
        let secrets = SecretSource { (reference) throws(SecretError) in
            reference.place == .environment("USERS") ? document : nil
        }
        return PluginHost(clock: clock.hostClock, store: store, secrets: secrets, logger: TestService.silent)
    }

    static func policy(_ section: String = "", isAlone: Bool = false) -> String {
        let first = """
            callers:
              looker: {sha256: \(Hex.encode(SHA256.hash(Array(bearer.utf8)))), permissions: [parcels.look]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - id: \(app)
                    rate_limit: {requests: 100, interval: 60s}
                    providers:
                      vouch: {}
                      debug: {tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: TestService.debugToken)))}]}
                  - {id: "\(secondApp)", providers: {vouch: {}}}
                oauth_clients:
                  - {id: \(client), app: "\(app)"}
                consumers:
                  parcel:
                    audience: \(audience)
            \(section.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n"))
            """
        if isAlone { return first }
        return first + """

              - number: 9876543210
                id: other-project
                apps:
                  - {id: "\(otherApp)", providers: {vouch: {}}}
                consumers:
                  parcel: {audience: "https://other.example.com/"}
            """
    }

    /// A token for an app.
    func token(
        _ app: String = app, in project: String = "1234567890", limitedUse: Bool = false, debug: Bool = false
    ) async throws -> String {
        let resource = app == Self.client ? "oauthClients/\(app)" : "projects/\(project)/apps/\(app)"
        let reply = await engine.handle(
            Call(
                debug ? "exchangeDebugToken" : "exchangeWord", resource: resource,
                body: ["limitedUse": .bool(limitedUse), "debugToken": .string(TestService.debugToken)]))
        return try #require(try reply.result.get()["token"]?.string)
    }

    /// A token of a user.
    func user(_ changes: JSON = [:], key: PrivateKey? = nil, type: String = "JWT") throws -> String {
        var claims: [JSONMember] = [
            JSONMember("iss", .string(Self.issuer)), JSONMember("sub", "user-1"),
            JSONMember("aud", "https://assay.example.com"), JSONMember("exp", .integer(clock.now.seconds + 600)),
            JSONMember("iat", .integer(clock.now.seconds)),
        ]
        for change in changes.members ?? [] {
            claims.removeAll { $0.name == change.name }
            if change.value != .null { claims.append(change) }
        }
        return try JWSSigner(key: key ?? users, keyID: "u1", algorithm: .es256)
            .sign(payload: JSON.object(claims).encoded, type: type)
    }

    /// The part of a section that trusts the users' issuer.
    static let actors = """
        actors:
          - {issuer: "\(issuer)", audiences: [https://assay.example.com], jwks: env:USERS}
        """

    func open(_ token: PresentedToken?, _ wish: String = "", user: String? = nil) async -> Reply {
        await engine.handle(
            Call(
                "openParcel\(door.rawValue)", body: ["wish": .string(wish)],
                credentials: user.flatMap { BearerToken($0) }, token: token))
    }

    func weigh(
        _ token: PresentedToken?, _ wish: String = "", audience: String? = audience, user: String? = nil
    ) async -> Reply {
        await engine.handle(
            Call(
                "weighParcel\(door.rawValue)",
                body: ["wish": .string(wish), "audience": audience.map { .string($0) } ?? .null],
                credentials: user.flatMap { BearerToken($0) }, token: token))
    }

    /// Exchanges a token by a form with some fields changed, or left out where they are null.
    func exchange(_ token: String, _ changes: JSON = [:]) async -> Reply {
        var fields: [JSONMember] = [
            JSONMember("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
            JSONMember("subject_token", .string(token)),
            JSONMember("subject_token_type", "urn:ietf:params:oauth:token-type:jwt"),
            JSONMember("audience", .string(Self.audience)),
        ]
        for change in changes.members ?? [] {
            fields.removeAll { $0.name == change.name }
            if change.value != .null { fields.append(change) }
        }
        return await engine.handle(Call("exchangeToken", body: .object(fields)))
    }
}

extension Reply {
    /// The error of OAuth.
    var oauthError: String? {
        if case .failure(let failure) = result { failure.oauthError } else { nil }
    }
}
