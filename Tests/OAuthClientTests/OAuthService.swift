import AssayCore
import AssayCrypto
import AssayDebug
import AssayEngine
import AssayKit
import AssayOAuthClient
import AssayPolicy
import AssayTesting
import AssayVerifier
import Logging
import Testing

/// An engine with a project whose app is two OAuth clients: one of its own resource, and one by the policy's map.
struct OAuthService {
    static let appID = "1:1234567890:ios:321abc456def7890"
    static let app = "projects/example-project/apps/\(appID)"
    static let secondAppID = "1:1234567890:ios:0000000000000002"
    static let secondApp = "projects/example-project/apps/\(secondAppID)"
    /// Of the other project.
    static let otherAppID = "1:2:ios:ab"
    static let clientID = "1234567890-abc.apps.example.com"
    static let client = "oauthClients/\(clientID)"
    static let mappedClient = "mapped-client"
    static let server = "https://login.example.com"
    static let resourceServer = "https://api.example.com"
    static let debugToken = "6B4E1D0C-8F3A-4A52-9C1F-0E7D5B2A9C10"
    static let caller = "authorization-server-0123456789"
    static let tenant = "server-of-one-project-0123456789"
    static let outsider = "somebody-else-0123456789"

    /// All parts.
    static let section = """
        authorization_servers: [https://login.example.com]
        clients: {"1:1234567890:ios:321abc456def7890": mapped-client}
        tokens: {accept_development: true}
        attester: {}
        verifier: {resource_servers: [https://api.example.com]}
        client_assertion: {accept_development: true}
        introspection: {accept_development: true}
        ear: {audiences: [https://relying-party.example.com]}
        """

    let clock: ManualClock
    let sink = RecordingSink()
    let store: FailingStore
    let engine: Engine

    init(
        _ section: String = section, other: String? = nil, clock: ManualClock = ManualClock(),
        secrets: SecretSource = .system, meter: Meter = .none, otherProject: String = ""
    ) throws {
        self.clock = clock
        store = FailingStore(MemoryStore(clock: clock.hostClock))
        let hash = { (text: String) in Hex.encode(SHA256.hash(Array(text.utf8))) }
        let debug = "{debug: {tokens: [{name: a, sha256: \(Hex.encode(DebugToken.hash(of: Self.debugToken)))}]}}"
        let lines = section.split(separator: "\n").map { "          " + $0 }.joined(separator: "\n")
        let text = """
            tokens: {algorithm: ES256}
            callers:
              server:
                sha256: \(hash(Self.caller))
                permissions: [clientAttestations.verify, clientAssertions.verify, tokens.introspect]
              tenant:
                sha256: \(hash(Self.tenant))
                permissions: [tokens.introspect]
                projects: [example-project]
              outsider: {sha256: \(hash(Self.outsider)), permissions: [tokens.mint]}
            projects:
              - number: 1234567890
                id: example-project
                apps:
                  - {id: "\(Self.appID)", providers: \(debug)}
                  - {id: "\(Self.secondAppID)", providers: \(debug)}
                oauth_clients: [{id: \(Self.clientID), app: "\(Self.appID)"}]
                consumers:
                  oauth_client:
            \(lines)
              - number: 2
                id: other-project
                apps: [{id: "\(Self.otherAppID)", providers: \(debug)}]
                \(otherProject)
            """
            + (other.map { section in
                "\n    consumers:\n      oauth_client:\n"
                    + section.split(separator: "\n").map { "        " + $0 }.joined(separator: "\n")
            } ?? "")
        var host = PluginHost(
            clock: clock.hostClock, store: store, secrets: secrets,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        host.meter = meter
        engine = try Engine(
            registry: Registry([.provider(DebugProvider.self), .consumer(OAuthClientConsumer.self)]),
            policies: .load([PolicyFile(name: "test.yaml", text: text)]), keys: .pooled(), host: host, sink: sink)
    }

    func call(
        _ method: String, _ body: JSON = [:], resource: String = "", token: String? = nil, as caller: String? = nil
    ) async -> Result<JSON, CallFailure> {
        await engine.handle(
            Call(
                method, resource: resource, body: body, credentials: caller.flatMap { BearerToken($0) },
                token: token.flatMap { PresentedToken([$0]) })
        ).result
    }

    /// A fresh App Check token.
    func token(_ resource: String = client, limitedUse: Bool = true) async throws -> String {
        let body: JSON = ["debugToken": .string(Self.debugToken), "limitedUse": .bool(limitedUse)]
        return try #require(
            try await call("exchangeDebugToken", body, resource: resource).get()["token"]?.string)
    }

    func exchange(
        _ token: String, audience: String = server, _ fields: JSON = [:]
    ) async -> Result<JSON, CallFailure> {
        await call(
            "exchangeToken",
            ClientBench.merge(
                [
                    "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange", "subject_token": .string(token),
                    "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "audience": .string(audience),
                ], fields))
    }

    /// A JWT of the service, verified by the keys that it publishes.
    func verified(_ token: String, type: String) async throws -> JSON {
        let set = try await call("jwks").get()
        let keys = IssuerKeys.fixed(try JWKSet(json: set.encoded).keys)
        let verified = try await keys.verify(token, types: [ExactText(type)])
        #expect(verified.header.type == type)
        #expect(verified.header.keyID != nil)
        return verified.claims.json
    }
}

extension Result<JSON, CallFailure> {
    var failure: CallFailure? {
        if case .failure(let failure) = self { failure } else { nil }
    }
}
