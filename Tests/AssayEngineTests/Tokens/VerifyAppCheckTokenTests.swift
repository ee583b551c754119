import AssayCore
import AssayDebug
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import Testing

@Suite("verifyAppCheckToken")
struct VerifyAppCheckTokenTests {
    @Test("The first use of a token is told from every later one, session tokens included", arguments: [true, false])
    func consumption(limitedUse: Bool) async throws {
        let service = try AdminService()
        let token = try await service.token(AdminService.app, ["limitedUse": .bool(limitedUse)])
        #expect(service.isConsumed(await service.verify(token)) == false)
        for _ in 0..<3 { #expect(service.isConsumed(await service.verify(token)) == true) }
        let other = try await service.token()
        #expect(service.isConsumed(await service.verify(other)) == false)
    }

    @Test("Of fifty calls with one token at the same time, one is the first")
    func concurrency() async throws {
        let service = try AdminService()
        let token = try await service.token()
        let first = await withTaskGroup(of: Bool?.self) { group in
            for _ in 0..<50 { group.addTask { service.isConsumed(await service.verify(token)) } }
            return await group.reduce(into: [Bool?: Int]()) { $0[$1, default: 0] += 1 }
        }
        #expect(first == [false: 1, true: 49])
    }

    @Test("Tokens with one chosen jti count as one, for one app")
    func chosenID() async throws {
        let service = try AdminService()
        let body: JSON = ["limitedUse": true, "jti": "order-0123456789"]
        let first = try await service.token(AdminService.app, body)
        service.clock.advance(by: .seconds(1))
        let second = try await service.token(AdminService.app, body)
        #expect(first != second)
        #expect(service.isConsumed(await service.verify(first)) == false)
        #expect(service.isConsumed(await service.verify(second)) == true)
        let client = try await service.token("projects/other-project/apps/1:2:ios:ab", body)
        let reply = await service.call(
            "verifyAppCheckToken", "projects/2", ["appCheckToken": .string(client)], as: AdminService.verifier)
        #expect(service.isConsumed(reply) == false)
    }

    @Test("A use is remembered as long as the token lives, and beyond")
    func memory() async throws {
        let service = try AdminService()
        let token = try await service.token()
        #expect(service.isConsumed(await service.verify(token)) == false)
        service.clock.advance(by: .seconds(299))
        #expect(service.isConsumed(await service.verify(token)) == true)
        service.clock.advance(by: .seconds(2))
        #expect(await service.verify(token).reason == "token_expired")
        // Somebody sets the clock back.
        service.clock.advance(by: .seconds(-60))
        #expect(service.isConsumed(await service.verify(token)) == true)
    }

    @Test("A request that has a name gets its first answer again; another name, or another caller's, does not")
    func requestID() async throws {
        let service = try AdminService()
        let token = try await service.token()
        let name: KeyValuePairs<String, JSON> = ["requestId": "5c0a4a52-9c1f-4e7d"]
        #expect(service.isConsumed(await service.verify(token, name)) == false)
        #expect(service.isConsumed(await service.verify(token, name)) == false)
        #expect(service.isConsumed(await service.verify(token, name, as: AdminService.admin)) == true)
        #expect(service.isConsumed(await service.verify(token, ["requestId": "5c0a4a52-9c1f-4e7e"])) == true)
        #expect(service.isConsumed(await service.verify(token)) == true)
        for wrong in ["short", String(repeating: "x", count: 129)] {
            #expect(await service.verify(token, ["requestId": .string(wrong)]).status == .invalidArgument)
        }
    }

    @Test("A store that fails is never a success, and the token can be used once it works again")
    func storeDown() async throws {
        let service = try AdminService()
        let token = try await service.token()
        service.store.isFailing = true
        let reply = await service.verify(token)
        #expect(reply.status == .unavailable)
        guard case .failure(let failure) = reply.result else { return }
        #expect(failure.retryAfter != nil)
        service.store.isFailing = false
        #expect(service.isConsumed(await service.verify(token)) == false)
    }

    @Test("A token that is not good is refused in the same words whatever the reason; the record says which")
    func refused() async throws {
        let service = try AdminService()
        let foreign = try await service.token(AdminService.otherApp)
        let good = try await service.token()
        let session = try await service.token(AdminService.app, [:])
        service.clock.advance(by: .seconds(300))
        var signature = Array(session.utf8)
        signature[signature.count - 10] = signature[signature.count - 10] == 65 ? 66 : 65
        let cases: [(String, String)] = [
            (TokenVerifier.placeholder, "token_placeholder"), ("a.b.c", "token_malformed"),
            (AdminService.debugToken, "token_malformed"), (foreign, "token_audience"), (good, "token_expired"),
            (String(decoding: signature, as: UTF8.self), "token_signature"),
        ]
        for (token, reason) in cases {
            let reply = await service.verify(token)
            guard case .failure(let failure) = reply.result, let record = service.sink.record(of: reply.decision) else {
                Issue.record("\(reason): no refusal on record")
                continue
            }
            #expect(failure.status == .permissionDenied)
            #expect(failure.message == "The App Check token is invalid.")
            #expect(failure.reason?.code == reason)
            guard case .refused(let recorded) = record.outcome else {
                Issue.record("\(record.outcome)")
                continue
            }
            #expect(recorded.code == reason)
            #expect(record.tokenUse?.category == .invalid)
            #expect(record.tokenUse?.isAdmitted == false)
        }
        #expect(service.isConsumed(await service.verify(session)) == false)
        for body: JSON in [[:], ["appCheckToken": ""], ["appCheckToken": 5]] {
            #expect(await service.call("verifyAppCheckToken", AdminService.project, body).status == .invalidArgument)
        }
    }

    @Test("What a policy no longer has, its tokens cannot use: an app, a provider, development")
    func otherPolicies() async throws {
        let service = try AdminService()
        let token = try await service.token()
        let debug = try await service.token(
            AdminService.app, ["debugToken": .string(AdminService.debugToken)], by: "exchangeDebugToken")
        #expect(service.isConsumed(await service.verify(debug)) == false)

        let providers = "{debug: {tokens: [{name: a, sha256: \(AdminService.debugHash)}]}}"
        try service.engine.replacePolicies(AdminService.policies(project: "", providers: providers))
        #expect(await service.verify(debug).reason == "token_for_development")
        #expect(await service.verify(token).reason == "token_provider_not_allowed")

        try service.engine.replacePolicies(AdminService.policies(appID: "1:1234567890:ios:0000000000000003"))
        let reply = await service.verify(token)
        #expect(reply.reason == "token_app_unknown")
        #expect(service.sink.record(of: reply.decision)?.tokenUse?.app == nil)
    }

    @Test("A good token of a provider that the program does not have is a bad request, as with Google's service")
    func unsupportedProvider() async throws {
        let keys = KeyStore.pooled()
        let token = try await AdminService(keys: keys).token()
        let service = try AdminService(
            providers: "{debug: {}}", plugins: [.provider(DebugProvider.self), .provider(NotesProvider.self)],
            keys: keys, otherProviders: "{notes: {}}")
        let reply = await service.verify(token)
        #expect(reply.status == .invalidArgument)
        #expect(reply.reason == "token_provider_unsupported")
    }

    @Test("Tokens of OAuth clients are good as well")
    func oauthClient() async throws {
        let service = try AdminService()
        let token = try await service.token(
            "oauthClients/example-client", ["debugToken": .string(AdminService.debugToken)],
            by: "exchangeDebugToken")
        #expect(service.isConsumed(await service.verify(token)) == false)
        #expect(service.sink.records.last?.tokenUse?.app == "example-client")
    }

    @Test("Without the permission nothing is learned")
    func permission() async throws {
        let service = try AdminService()
        let token = try await service.token()
        let body: JSON = ["appCheckToken": .string(token)]
        let missing = await service.call("verifyAppCheckToken", AdminService.project, body, as: nil)
        #expect(missing.status == .unauthenticated)
        let other = await service.call("verifyAppCheckToken", AdminService.project, body, as: AdminService.minter)
        #expect(other.status == .permissionDenied)
        #expect(other.reason == nil)
        #expect(service.isConsumed(await service.verify(token)) == false)
    }

    @Test("The record of a use says which token, which app and which service, and counts it")
    func record() async throws {
        let service = try AdminService(project: "services: {orders.example.com: {}}")
        let token = try await service.token()
        for category in [TokenUse.Category.verified, .reused] {
            let reply = await service.verify(token, ["service": "orders.example.com"])
            let record = try #require(service.sink.record(of: reply.decision))
            #expect(
                record.tokenUse
                    == TokenUse(
                        project: "1234567890", service: "orders.example.com", app: AdminService.appID,
                        category: category, enforcement: nil, isAdmitted: category == .verified))
            #expect(record.provider == "vouch")
            #expect(record.caller == "verifier")
            #expect(record.facts.contains(Fact(.alreadyConsumed, .bool(category == .reused))))
            let id = try #require(try JSON.claims(of: token)["jti"]?.string)
            #expect(record.facts.contains(Fact(.tokenID, .text(id))))
        }
        #expect(await service.verify(token, ["service": "unknown.example.com"]).status == .invalidArgument)
    }
}
