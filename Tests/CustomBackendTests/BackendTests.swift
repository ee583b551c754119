import AssayCore
import AssayEngine
import AssayKit
import AssayTesting
import Testing

@testable import AssayCustomBackend

private let backends = """
    tokens: {accept_development: true, apps: ["\(VerifyService.app)"]}
    backends:
      orders: {}
      watched: {tokens: {enforcement: UNENFORCED}}
      open: {tokens: {enforcement: "OFF"}}
      second: {tokens: {apps: ["\(VerifyService.secondApp)"]}}
      strict: {tokens: {accept_development: false}}
      brief: {tokens: {max_age: 1m, limited_use: true}}
    """

@Suite("Backends")
struct BackendTests {
    @Test("A good token's app, identifier and provider are told, and whether it is used up")
    func reply() async throws {
        let service = try VerifyService(backends)
        let token = try await service.token()
        guard case .one(let text) = token else { return }
        let payload = try #require(text.split(separator: ".").dropFirst().first.flatMap { Base64.decode($0) })
        let reply = await service.ask("orders", token)
        #expect(
            try reply.result.get() == [
                "appId": .string(VerifyService.app), "jti": try #require(try JSON.parse(payload)["jti"]),
                "consumed": false, "provider": "debug",
            ])
        let record = try #require(service.sink.record(of: reply.decision))
        #expect(record.method == "verifyRequest")
        #expect(record.tokenUse?.service == "orders")
        #expect(record.tokenUse?.category == .verified)
        #expect(record.tokenUse?.app == VerifyService.app)
    }

    @Test("Each backend has its own demand over that of the section")
    func demands() async throws {
        let service = try VerifyService(backends)
        let token = try await service.token()
        let second = try await service.token(VerifyService.secondApp)
        let limited = try await service.token(limitedUse: true)
        #expect(await service.ask("orders", second).reason == "token_app_not_allowed")
        #expect(await service.ask("second", second).status == nil)
        #expect(await service.ask("second", token).reason == "token_app_not_allowed")
        #expect(await service.ask("strict", token).reason == "token_for_development")
        #expect(await service.ask("brief", token).reason == "token_not_limited_use")
        service.clock.advance(by: .seconds(61))
        #expect(await service.ask("brief", limited).reason == "token_too_old")
        // A refused token is not used up.
        #expect(await service.ask("orders", limited).status == nil)
    }

    @Test("What is no good token is refused, each for its reason")
    func badTokens() async throws {
        let service = try VerifyService(backends)
        let bad: [(PresentedToken?, String)] = [
            (nil, "token_missing"), (.several, "token_repeated"), (.inURL, "token_in_url"),
            (.one("x"), "token_malformed"), (.one("eyJlcnJvciI6IlVOS05PV05fRVJST1IifQ=="), "token_placeholder"),
        ]
        for (token, reason) in bad {
            let reply = await service.ask("orders", token)
            #expect(reply.reason == reason)
            #expect(reply.status == .unauthenticated)
        }
        let token = try await service.token()
        service.clock.advance(by: .seconds(3601))
        #expect(await service.ask("orders", token).reason == "token_expired")
    }

    @Test("What is not enforced passes and says nothing of a token that is not good")
    func unenforced() async throws {
        let service = try VerifyService(backends)
        let second = try await service.token(VerifyService.secondApp)
        for token in [nil, .several, .inURL, .one("x"), second] as [PresentedToken?] {
            let reply = await service.ask("watched", token)
            #expect(try reply.result.get() == [:])
            let use = try #require(service.sink.record(of: reply.decision)?.tokenUse)
            #expect(use.service == "watched")
            #expect(use.enforcement == .unenforced)
            #expect(use.isAdmitted)
            #expect(use.category == (token == nil ? .unknownOrigin : .invalid))
            #expect(try await service.ask("open", token).result.get() == [:])
        }
        let good = try await service.token()
        #expect(try await service.ask("watched", good).result.get()["appId"] == .string(VerifyService.app))
        // Where nobody looks, nothing is said, lest a backend trusts it.
        #expect(try await service.ask("open", good).result.get() == [:])
    }

    @Test("A used limited-use token passes where it is not enforced, and is counted")
    func reusedUnenforced() async throws {
        let service = try VerifyService(backends)
        let token = try await service.token(limitedUse: true)
        for expected in [TokenUse.Category.verified, .reused] {
            let reply = await service.ask("watched", token)
            #expect(reply.status == nil)
            #expect(service.sink.record(of: reply.decision)?.tokenUse?.category == expected)
        }
        #expect(await service.ask("orders", token).reason == "token_reused")
    }

    @Test("Of several backends one must be named, and there must be one of the name", arguments: [nil, "", "nobody"])
    func unknown(_ name: String?) async throws {
        let service = try VerifyService(backends)
        // A request that names none is not of the form; which backends there are, nobody learns.
        let expected: StatusCode = (name ?? "").isEmpty ? .invalidArgument : .notFound
        #expect(await service.ask(name, try await service.token()).status == expected)
    }

    @Test("The only backend needs no name")
    func only() async throws {
        let service = try VerifyService("tokens: {accept_development: true}\nbackends: {orders: {}}")
        let reply = await service.ask(nil, try await service.token())
        #expect(reply.status == nil)
        #expect(service.sink.record(of: reply.decision)?.tokenUse?.service == "orders")
        #expect(await service.ask(nil, nil).reason == "token_missing")
    }

    @Test("An instance that is asked about a backend which it does not have lets nothing through")
    func notMine() async throws {
        let clock = ManualClock()
        let host = VerifyService.host(clock)
        let project = ProjectIdentity(number: "1234567890", id: "example-project")
        let section = BackendConfiguration(tokens: nil, originalRequest: nil, routes: nil)
        let consumer = try CustomBackendConsumer(
            CustomBackendConfiguration(backends: ["orders": section, "returns": section]),
            scope: ConsumerScope(
                project: project, issuer: "https://assay.example.com", apps: [], knowsActors: false), host: host)
        #expect(consumer.audiences == ["orders", "returns"])
        let method = try #require(CustomBackendConsumer.methods.first)
        guard case .answer(let prepare) = method.action else {
            Issue.record("the method answers nothing")
            return
        }
        for body in [["backend": "nobody"], [:]] as [JSON] {
            let fields = try RequestFields(body)
            #expect(throws: InvalidRequest.self) { try prepare(consumer, fields) }
        }
    }

    @Test("Every reason is listed, and provoked by these tests")
    func reasons() {
        #expect(
            CustomBackendConsumer.descriptor.reasons.map(\.code).sorted()
                == [
                    "backend_target_ambiguous", "backend_target_missing", "proof_before_state", "proof_key_missing",
                    "proof_malformed", "proof_missing", "proof_not_yet_valid", "proof_other_app", "proof_reused",
                    "proof_signature", "proof_too_old", "proof_undecided",
                ])
    }
}
