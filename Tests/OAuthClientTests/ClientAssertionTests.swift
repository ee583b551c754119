import AssayCore
import AssayEngine
import AssayKit
import AssayOAuthClient
import AssayTesting
import Synchronization
import Testing

@Suite("App Check tokens as client assertions")
struct ClientAssertionTests {
    private static let type: JSON = "urn:ietf:params:oauth:client-assertion-type:appcheck"

    private func judge(
        _ assertion: JSON, _ changes: JSON = [:], by service: OAuthService
    ) async -> Result<JSON, CallFailure> {
        await service.call(
            "verifyClientAssertion",
            ClientBench.merge(
                [
                    "audience": .string(OAuthService.server), "client_id": .string(OAuthService.clientID),
                    "client_assertion_type": Self.type, "client_assertion": assertion,
                ], changes), as: OAuthService.caller)
    }

    @Test("a token of the client is good, once")
    func good() async throws {
        let service = try OAuthService()
        let token: JSON = .string(try await service.token())
        let reply = try await judge(token, by: service).get()
        #expect(reply["verified"] == true)
        #expect(reply["result"] == "verified")
        #expect(reply["provider"] == "debug")
        #expect(reply["sub"] == .string(OAuthService.clientID))
        let again = await judge(token, by: service).failure
        #expect(again?.reason == OAuthClientReasons.assertionInvalid)
        #expect(again?.detail == KernelReasons.tokenReused.code)
        #expect(again?.oauthError == "invalid_client")
    }

    @Test("a token of the app that a client is, is good for that client alone")
    func mapped() async throws {
        let service = try OAuthService()
        let mapped: JSON = ["client_id": .string(OAuthService.mappedClient)]
        _ = try await judge(.string(service.token(OAuthService.app)), mapped, by: service).get()
        #expect(
            try await judge(.string(service.token(OAuthService.app)), by: service).failure?.detail
                == KernelReasons.tokenAppNotAllowed.code)
        #expect(
            try await judge(.string(service.token()), mapped, by: service).failure?.detail
                == KernelReasons.tokenAppNotAllowed.code)
    }

    @Test("a token that is for another client is not used up")
    func unused() async throws {
        let service = try OAuthService()
        let token: JSON = .string(try await service.token())
        let mapped: JSON = ["client_id": .string(OAuthService.mappedClient)]
        #expect(await judge(token, mapped, by: service).failure != nil)
        _ = try await judge(token, by: service).get()
    }

    @Test("what is missing, what stands in for a token and what is none are told apart", arguments: bad)
    func reasons(assertion: JSON, changes: JSON, reason: Reason) async throws {
        let service = try OAuthService()
        let failure = await judge(assertion, changes, by: service).failure
        #expect(failure?.reason == reason)
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.oauthError == "invalid_client")
    }

    @Test("a session token is refused unless the policy takes it, and is good once then")
    func sessionTokens() async throws {
        let strict = try OAuthService()
        #expect(
            try await judge(.string(strict.token(limitedUse: false)), by: strict).failure?.detail
                == KernelReasons.tokenNotLimitedUse.code)
        let loose = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            client_assertion: {accept_development: true, limited_use: false}
            """)
        let token: JSON = .string(try await loose.token(limitedUse: false))
        _ = try await judge(token, by: loose).get()
        #expect(await judge(token, by: loose).failure?.detail == KernelReasons.tokenReused.code)
    }

    @Test("what is not enforced lets everything through, says what it found, and counts it")
    func unenforced() async throws {
        let counts = Mutex<[String: Int]>([:])
        let meter = Meter { scope, metric, _, labels in
            guard metric.name == "assertions_total" else { return }
            counts.withLock { $0["\(scope)\(labels.joined(separator: " "))", default: 0] += 1 }
        }
        let service = try OAuthService(
            """
            authorization_servers: [https://login.example.com]
            clients: {"1:1234567890:ios:321abc456def7890": mapped-client}
            client_assertion:
              accept_development: true
              enforcement: UNENFORCED
              clients: {mapped-client: "OFF"}
            """, meter: meter)
        let missing = try await judge(nil, by: service).get()
        #expect(missing["verified"] == false)
        #expect(missing["result"] == "missing")
        #expect(missing["enforcement"] == "UNENFORCED")
        let facts = service.sink.records.last?.facts ?? []
        #expect(facts.contains(Fact(.clientAssertion, .text("client_assertion_missing"))))
        #expect(service.sink.records.last?.unenforced?.code == "client_assertion_missing")
        #expect(try await judge("x", by: service).get()["result"] == "invalid")
        #expect(try await judge(.string(service.token()), by: service).get()["verified"] == true)
        #expect(service.sink.records.last.map { $0.unenforced == nil } == true)
        let mapped: JSON = ["client_id": .string(OAuthService.mappedClient)]
        #expect(try await judge("x", mapped, by: service).get()["result"] == "unchecked")
        #expect(
            counts.withLock { $0 } == [
                "oauth_client_missing UNENFORCED": 1, "oauth_client_invalid UNENFORCED": 1,
                "oauth_client_verified UNENFORCED": 1, "oauth_client_unchecked OFF": 1,
            ])
    }

    @Test("nothing that is put on record or replied holds the assertion")
    func silence() async throws {
        let service = try OAuthService()
        let token = try await service.token()
        let results = [
            await judge(.string(token), by: service), await judge(.string(token), by: service),
            await judge(.string(token + "x"), by: service),
        ]
        let signature = try #require(token.split(separator: ".").last)
        for result in results { #expect(!"\(result)".contains(signature)) }
        #expect(!service.sink.records.contains { "\($0)".contains(signature) })
    }

    @Test("only callers with the permission ask")
    func callers() async throws {
        let service = try OAuthService()
        for caller in [nil, OAuthService.outsider] {
            let failure = await service.call(
                "verifyClientAssertion", ["client_id": .string(OAuthService.clientID)], as: caller
            ).failure
            #expect([.unauthenticated, .permissionDenied].contains(failure?.status))
        }
        let failure = await judge("x", ["client_id": nil], by: service).failure
        #expect(failure?.message.contains("client") == true)
        #expect(failure?.status == .invalidArgument)
    }

    @Test("a store that fails decides nothing")
    func failing() async throws {
        let service = try OAuthService()
        let token: JSON = .string(try await service.token())
        service.store.isFailing = true
        #expect(await judge(token, by: service).failure?.status == .unavailable)
        service.store.isFailing = false
        _ = try await judge(token, by: service).get()
    }
}

private let bad: [(JSON, JSON, Reason)] = [
    (nil, [:], OAuthClientReasons.assertionMissing), ("", [:], OAuthClientReasons.assertionMissing),
    (nil, ["client_assertion_type": nil], OAuthClientReasons.assertionMissing),
    ("x", ["client_assertion_type": nil], OAuthClientReasons.assertionType),
    (
        "x", ["client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"],
        OAuthClientReasons.assertionType
    ),
    (["x", "y"], [:], OAuthClientReasons.assertionSeveral),
    (
        "x", ["client_assertion_type": ["a", "b"]],
        OAuthClientReasons.assertionSeveral
    ),
    ("eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ==", [:], OAuthClientReasons.assertionPlaceholder),
    ("eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ", [:], OAuthClientReasons.assertionPlaceholder),
    ("x", ["client_id": "unknown"], OAuthClientReasons.assertionClient),
    ("x", ["client_id": "1:1234567890:ios:0000000000000002"], OAuthClientReasons.assertionClient),
    ("x", [:], OAuthClientReasons.assertionInvalid), ("e30=", [:], OAuthClientReasons.assertionInvalid),
]
