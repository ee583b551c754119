import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayOAuthClient
import AssayTesting
import AssayVerifier
import Testing

@Suite("Client attestations for App Check tokens")
struct AttestingTests {
    private let service: OAuthService
    private let key: PrivateKey

    init() throws {
        service = try OAuthService()
        key = try .generate(.ec(.p256))
    }

    private var jwk: JSON { ClientBench.merge(ClientKey(key.publicKey).jwk, ["use": "sig"]) }
    private var jwkText: JSON { .string(String(decoding: jwk.encoded, as: UTF8.self)) }

    @Test("a token of an OAuth client is exchanged for an attestation of the client's key")
    func exchange() async throws {
        let reply = try await service.exchange(service.token(), ["client_jwk": jwkText]).get()
        #expect(reply["issued_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
        #expect(reply["token_type"] == "N_A")
        #expect(reply["expires_in"] == 86_400)
        let claims = try await service.verified(
            try #require(reply["access_token"]?.string), type: "oauth-client-attestation+jwt")
        let now = service.clock.now.seconds
        #expect(claims["sub"] == .string(OAuthService.clientID))
        #expect(claims["iat"] == .integer(now))
        #expect(claims["exp"] == .integer(now + 86_400))
        #expect(claims["cnf"] == ClientKey(key.publicKey).confirmation)
        #expect(claims["iss"] == nil)
        let facts = service.sink.records.last?.facts ?? []
        #expect(facts.contains(Fact(.oauthClient, .text(OAuthService.clientID))))
        #expect(facts.contains(Fact(.clientKey, .text(ClientKey(key.publicKey).thumbprint))))
    }

    @Test("an app's own door gives the same in the shape that apps in the field read")
    func door() async throws {
        let reply = try await service.call("attestClient", ["jwk": jwk], token: service.token()).get()
        #expect(reply.members?.map(\.name) == ["client_attestation", "expires_in"])
        #expect(reply["expires_in"] == 86_400)
        let claims = try await service.verified(
            try #require(reply["client_attestation"]?.string), type: "oauth-client-attestation+jwt")
        #expect(claims["sub"] == .string(OAuthService.clientID))
    }

    @Test("an app that the policy maps to a client is that client; any other is none")
    func mapped() async throws {
        let reply = try await service.call(
            "attestClient", ["jwk": jwk], token: service.token(OAuthService.app)
        ).get()
        let claims = try await service.verified(
            try #require(reply["client_attestation"]?.string), type: "oauth-client-attestation+jwt")
        #expect(claims["sub"] == .string(OAuthService.mappedClient))
        let other = try await service.call(
            "attestClient", ["jwk": jwk], token: service.token(OAuthService.secondApp)
        ).failure
        #expect(other?.reason == OAuthClientReasons.clientUnknown)
        #expect(other?.status == .permissionDenied)
        let exchanged = try await service.exchange(
            service.token(OAuthService.secondApp), ["client_jwk": jwkText]
        ).failure
        #expect(exchanged?.reason == OAuthClientReasons.clientUnknown)
    }

    @Test("the door is spoken as apps in the field expect: 400 for keys, 401 for tokens, 500 for faults")
    func binding() throws {
        let door = try #require(service.engine.methods.first { $0.name == "attestClient" })
        #expect(door.rules.map(\.description) == ["POST /client-attestation"])
        #expect(door.takesToken)
        #expect(door.binding.statuses == [.permissionDenied: 401, .unauthenticated: 401, .unavailable: 500])
    }

    @Test("a key that is none is refused, as text and as JSON", arguments: badKeys)
    func keys(change: JSON, reason: Reason) async throws {
        let bad: JSON = change == .null ? "text" : ClientBench.merge(jwk, change)
        let door = try await service.call("attestClient", ["jwk": bad], token: service.token()).failure
        #expect(door?.reason == reason)
        #expect(door?.status == .invalidArgument)
        let text: JSON = .string(String(decoding: bad.encoded, as: UTF8.self))
        let exchange = try await service.exchange(service.token(), ["client_jwk": text]).failure
        #expect(exchange?.reason == reason)
        #expect(exchange?.oauthError == "invalid_request")
    }

    @Test("a limited-use token is not consumed by a request whose key is none")
    func unconsumed() async throws {
        let token = try await service.token()
        for bad: JSON in ["text", [:], .null] {
            #expect(try await service.call("attestClient", ["jwk": bad], token: token).failure != nil)
        }
        #expect(try await service.call("attestClient", ["jwk": jwk], token: token).get() != .null)
        #expect(try await service.call("attestClient", ["jwk": jwk], token: token).failure != nil)
    }

    @Test("a key in text is one JSON object of some size and depth", arguments: badTexts)
    func texts(text: String) async throws {
        let failure = try await service.exchange(service.token(), ["client_jwk": .string(text)]).failure
        #expect(failure?.reason == OAuthClientReasons.keyUnusable)
    }

    @Test("a request with no key, or with two, lacks one")
    func missing() async throws {
        let both: JSON = .array([jwkText, jwkText])
        for fields: JSON in [[:], ["client_jwk": ""], ["client_jwk": both]] {
            #expect(
                try await service.exchange(service.token(), fields).failure?.reason == OAuthClientReasons.keyMissing)
        }
        for body: JSON in [[:], ["jwk": nil]] {
            let failure = try await service.call("attestClient", body, token: service.token()).failure
            #expect(failure?.reason == OAuthClientReasons.keyMissing)
            #expect(failure?.status == .invalidArgument)
        }
    }

    @Test("a limited-use token is good for one attestation, and no token for none")
    func tokens() async throws {
        let token = try await service.token()
        _ = try await service.call("attestClient", ["jwk": jwk], token: token).get()
        #expect(
            await service.call("attestClient", ["jwk": jwk], token: token).failure?.reason
                == KernelReasons.tokenReused)
        #expect(
            await service.call("attestClient", ["jwk": jwk]).failure?.reason == KernelReasons.tokenMissing)
    }

    @Test("another type of token is not to be had")
    func types() async throws {
        let fields = { (type: String) -> JSON in ["client_jwk": jwkText, "requested_token_type": .string(type)] }
        _ = try await service.exchange(service.token(), fields("urn:ietf:params:oauth:token-type:jwt")).get()
        let saml = try await service.exchange(
            service.token(), fields("urn:ietf:params:oauth:token-type:saml2")
        ).failure
        #expect(saml?.reason == OAuthClientReasons.typeNotOffered)
        #expect(saml?.oauthError == "invalid_request")
    }

    @Test("a section says how long attestations live, who issues them, and which keys are taken")
    func settings() async throws {
        let service = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            tokens: {accept_development: true}
            attester: {ttl: 2m, issuer: "https://assay.example.com", key_algorithms: [ES384]}
            """)
        let refused = try await service.call("attestClient", ["jwk": jwk], token: service.token()).failure
        #expect(refused?.reason == OAuthClientReasons.keyUnusable)
        let other = try PrivateKey.generate(.ec(.p384))
        let reply = try await service.call(
            "attestClient", ["jwk": ClientKey(other.publicKey).jwk], token: service.token()
        ).get()
        #expect(reply["expires_in"] == 120)
        let claims = try await service.verified(
            try #require(reply["client_attestation"]?.string), type: "oauth-client-attestation+jwt")
        #expect(claims["iss"] == "https://assay.example.com")
    }

    @Test("attestations may have a key of their own, and are verified by it")
    func ownKey() async throws {
        let signing = try PrivateKey.generate(.ec(.p384))
        let pem = try signing.pem().withUnsafeBytes { Array($0) }
        let service = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            tokens: {accept_development: true}
            attester: {key: {private_key: "env:KEY", key_id: attester-1}}
            verifier: {}
            introspection: {}
            """,
            secrets: SecretSource { (reference) throws(SecretError) in
                reference.description == "env:KEY" ? pem : nil
            })
        let reply = try await service.call("attestClient", ["jwk": jwk], token: service.token()).get()
        let text = try #require(reply["client_attestation"]?.string)
        let keys = IssuerKeys.fixed([JWK(signing: signing.publicKey, keyID: "attester-1")])
        let header = try await keys.verify(text, types: ["oauth-client-attestation+jwt"]).header
        #expect(header.keyID == "attester-1")
        #expect(header.algorithm == .es384)
        let found = try await service.call(
            "introspectToken", ["token": .string(text)], as: OAuthService.caller
        ).get()
        #expect(found["active"] == true)
        #expect(found["cnf"] == ClientKey(key.publicKey).confirmation)
    }
}

private let badKeys: [(JSON, Reason)] = [
    (nil, OAuthClientReasons.keyUnusable), (["d": "AAAA"], OAuthClientReasons.keyUnusable),
    (["kty": "RSA"], OAuthClientReasons.keyUnusable), (["crv": "P-384"], OAuthClientReasons.keyUnusable),
    (["x": "AAAA"], OAuthClientReasons.keyUnusable), (["y": nil], OAuthClientReasons.keyUnusable),
    (["use": "enc"], OAuthClientReasons.keyUnusable),
    (
        ["x": .string(String(repeating: "A", count: 43)), "y": .string(String(repeating: "A", count: 43))],
        OAuthClientReasons.keyUnusable
    ),
]

private let badTexts = [
    "{", "[]", "{\"kty\":\"EC\",\"kty\":\"EC\"}", "{\"a\":{\"b\":{\"c\":{}}}}",
    "{\"a\":\"" + String(repeating: "a", count: 4096) + "\"}",
]
