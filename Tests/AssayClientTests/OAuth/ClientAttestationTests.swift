import AssayClientHTTP
import AssayCore
import AssayCrypto
import Synchronization
import Testing

@testable import AssayClient

@Suite("Client attestations")
struct ClientAttestationTests {
    @Test("an attestation is fetched once for all callers at the same time, with one limited-use token")
    func shared() async throws {
        let scene = try OAuthScene()
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await scene.attestation().text } }
            var texts: Set<String> = []
            for try await text in group { texts.insert(text) }
            return texts
        }
        #expect(texts.count == 1)
        #expect(scene.world.count("/client-attestation") == 1)
        #expect(scene.world.requests.count == 2)
        #expect(String(decoding: try #require(scene.world.requests.first).body, as: UTF8.self).contains("true"))
    }

    @Test("it is kept until five minutes before its end, and over a restart with its key")
    func kept() async throws {
        let scene = try OAuthScene()
        let first = try await scene.attestation()
        #expect(first.clientID == OAuthWorld.client)
        scene.world.clock.advance(by: .minutes(24 * 60 - 5) - .milliseconds(1))
        #expect(try await scene.attestation().text == first.text)
        let restarted = try OAuthScene(scene.world, storage: scene.storage)
        let restored = try await restarted.attestation()
        #expect(restored.text == first.text && restored.thumbprint == first.thumbprint)
        #expect(scene.world.count("/client-attestation") == 1)
        scene.world.clock.advance(by: .milliseconds(1))
        let second = try await restarted.attestation()
        #expect(second.text != first.text && second.thumbprint == first.thumbprint)
    }

    @Test("each authorization server has a key of its own, and none after it was forgotten")
    func keys() async throws {
        let scene = try OAuthScene()
        let first = try await scene.attestation()
        let other = try await scene.attestations.clientAttestation(for: "https://other.example.com")
        #expect(other.thumbprint != first.thumbprint)
        scene.attestations.forget(OAuthWorld.issuer)
        #expect(try await scene.attestation().thumbprint != first.thumbprint)
        #expect(
            try await scene.attestations.clientAttestation(for: "https://other.example.com").text == other.text)
    }

    @Test("the thumbprint is that of RFC 7638")
    func thumbprint() async throws {
        let key = try OpenSSLKeys().makeKey()
        let jwk = try #require(InstanceJWK(key.publicPoint))
        let other = try JWK(JSON.parse(jwk.json))
        #expect(jwk.thumbprint == other.thumbprint)
        #expect(InstanceJWK(Array(key.publicPoint.dropLast())) == nil)
        #expect(InstanceJWK([2] + key.publicPoint.dropFirst()) == nil)
    }

    @Test("a stored key that this device does not have, or that is damaged, is replaced, and a notice says so")
    func damaged() async throws {
        let storage = MemoryStorage()
        let first = try await OAuthScene(storage: storage).attestation()
        struct OtherDevice: InstanceKeys {
            struct Absent: Error {}
            func makeKey() throws -> any InstanceKey { try OpenSSLKeys().makeKey() }
            func key(from stored: [UInt8]) throws -> any InstanceKey { throw Absent() }
        }
        let scene = try OAuthScene(storage: storage, keys: OtherDevice())
        #expect(try await scene.attestation().thumbprint != first.thumbprint)
        #expect(scene.notices.all.contains { $0.contains("a new one is made") })
        for stored in [[], Array("-----BEGIN PRIVATE KEY-----".utf8), try p384()] {
            #expect(throws: OpenSSLKeys.Failure.self) { try OpenSSLKeys().key(from: stored) }
        }
    }

    private func p384() throws -> [UInt8] {
        try PrivateKey.generate(.ec(.p384)).pem().withUnsafeBytes { Array($0) }
    }

    @Test("a key that cannot be made, and one of another kind, are errors of the device")
    func noKey() async throws {
        struct Broken: InstanceKeys, InstanceKey {
            struct Failure: Error {}
            var isMade = true
            var publicPoint: [UInt8] { [4] }
            var stored: [UInt8] { [] }
            func makeKey() throws -> any InstanceKey { if isMade { self } else { throw Failure() } }
            func key(from stored: [UInt8]) throws -> any InstanceKey { self }
            func sign(_ message: [UInt8]) throws -> [UInt8] { [] }
        }
        for keys in [Broken(), Broken(isMade: false)] {
            let scene = try OAuthScene(keys: keys)
            #expect(await clientError { _ = try await scene.attestation() }?.code == .deviceFailed)
            #expect(scene.world.requests.isEmpty)
        }
    }

    @Test(
        "an attestation of another client or key, or one that is none, is not used",
        arguments: [
            (["sub": "another"], [:], AppCheckError.Code.foreignToken),
            (["cnf": ["jwk": ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"]]], [:], .foreignToken),
            (["cnf": .null], [:], .foreignToken), (["cnf": "a"], [:], .foreignToken),
            (["sub": .null], [:], .malformedReply), (["sub": 7], [:], .malformedReply),
            (["exp": .null], [:], .malformedReply), (["exp": "1"], [:], .malformedReply),
            (["exp": 1_795_262_400], [:], .malformedReply),
            ([:], ["client_attestation": "a.b"], .malformedReply),
            ([:], ["client_attestation": 7], .malformedReply), ([:], ["client_attestation": .null], .malformedReply),
            ([:], ["expires_in": "86400"], .malformedReply), ([:], ["expires_in": 0], .malformedReply),
            ([:], ["expires_in": .null], .malformedReply),
            ([:], ["client_attestation": .string(String(repeating: "a", count: 20_000))], .malformedReply),
        ] as [(JSON, JSON, AppCheckError.Code)])
    func wrong(claims: JSON, reply: JSON, code: AppCheckError.Code) async throws {
        let scene = try OAuthScene(client: OAuthWorld.client)
        scene.world.demand { demands in
            demands.claims = claims
            demands.reply = reply
        }
        #expect(await clientError { _ = try await scene.attestation() }?.code == code)
        // Nothing of it was kept.
        scene.world.demand { $0 = OAuthWorld.Demands() }
        scene.world.clock.advance(by: .minutes(1))
        #expect(try await scene.attestation().clientID == OAuthWorld.client)
    }

    @Test("no lifetime is longer than the attestation says, nor than a week")
    func lifetimes() async throws {
        for (said, claimed, expected) in [
            (86_400, 3600, Interval.seconds(3600)), (600, 86_400, .seconds(600)),
            (2_592_000, 2_592_000, .minutes(7 * 24 * 60)), (Int64.max, 86_400, .seconds(86_400)),
        ] {
            let scene = try OAuthScene()
            let now = scene.world.now
            scene.world.demand { demands in
                demands.claims = ["exp": .integer(now + Int64(claimed))]
                demands.reply = ["expires_in": .integer(Int64(said))]
            }
            #expect(try await scene.attestation().expires - scene.world.clock.now == expected)
        }
    }

    @Test(
        "a refusal has the server's words and its decision",
        arguments: [
            (400, AppCheckError.Code.rejected), (401, .refused), (403, .refused), (404, .notConfigured),
            (429, .throttled), (500, .unavailable), (307, .redirected),
        ])
    func refused(status: Int, code: AppCheckError.Code) async throws {
        let scene = try OAuthScene()
        scene.world.next("/client-attestation") { _ in
            .json(
                status, ["error": "access_denied", "error_description": "The token is not sufficient."],
                [ClientHeader("x-assay-decision", "01KBH5DECISION"), ClientHeader("Location", "/elsewhere")])
        }
        let error = try #require(await clientError { _ = try await scene.attestation() })
        #expect(error.code == code && error.status == status && error.decision == "01KBH5DECISION")
        #expect(error.message.contains("The token is not sufficient."))
        // A pause: nothing is sent at once.
        #expect(await clientError { _ = try await scene.attestation() }?.code == code)
        #expect(scene.world.count("/client-attestation") == 1)
    }

    @Test("a huge reply, and none within the limit, are errors; no issuer is no server")
    func failures() async throws {
        let scene = try OAuthScene()
        scene.world.next("/client-attestation") { _ in
            ClientResponse(status: 200, body: [UInt8](repeating: 0x20, count: 70_000))
        }
        #expect(await clientError { _ = try await scene.attestation() }?.code == .malformedReply)
        scene.world.clock.advance(by: .minutes(60))
        struct Slow: Error {}
        scene.world.next("/client-attestation") { request in
            #expect(request.timeLimit == .seconds(30) && request.responseLimit == 65_536)
            throw Slow()
        }
        #expect(await clientError { _ = try await scene.attestation() }?.code == .unreachable)
        let error = await clientError { _ = try await scene.attestations.clientAttestation(for: "login.example.com") }
        #expect(error?.code == .invalidConfiguration)
    }
}
