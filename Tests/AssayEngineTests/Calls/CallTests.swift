import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import AssayYAML
import Testing

@Suite("The way of a call")
struct CallTests {
    @Test(
        "A resource that is malformed, unknown, or without the provider is told apart",
        arguments: [
            ("", StatusCode.invalidArgument), ("projects/example-project", .invalidArgument),
            ("projects//apps/1:2:ios:a", .invalidArgument), ("projects/example-project/apps/", .invalidArgument),
            ("projects/example-project/apps/nonsense", .invalidArgument),
            ("projects/example-project/apps/1:2:ios:a/more", .invalidArgument),
            ("projects/exa\u{0}mple/apps/1:2:ios:a", .invalidArgument), ("oauthClients/", .invalidArgument),
            ("projects/another/apps/1:1234567890:ios:321abc456def7890", .notFound),
            ("projects/example-project/apps/1:1234567890:ios:ffff", .notFound), ("oauthClients/nobody", .notFound),
            ("projects/example-project/apps/1:1234567890:ios:0000000000000002", .failedPrecondition),
            (TestService.otherApp, .failedPrecondition),
        ])
    func resources(_ resource: String, _ status: StatusCode) async throws {
        let service = try TestService()
        let reply = await service.call("exchangeDebugToken", resource, ["debugToken": .string(TestService.debugToken)])
        #expect(reply.status == status)
        #expect(reply.reason == nil)
    }

    @Test("An app without the provider is told so in App Check's words")
    func notRegistered() async throws {
        let service = try TestService()
        let reply = await service.call("exchangeDebugToken", TestService.otherApp, ["debugToken": "x"])
        guard case .failure(let failure) = reply.result else {
            Issue.record("it succeeded")
            return
        }
        #expect(failure.message == "App not registered: 1:1234567890:ios:0000000000000001.")
        #expect(service.sink.records.last?.detail?.contains("no provider with the method exchangeDebugToken") == true)
    }

    private static let wrongBodies: [(JSON, String)] = [
        (.array([]), "object"),
        (.object([]), "debugToken"),
        (["debugToken": .integer(5)], "debugToken"),
        (["debugToken": .string("")], "debugToken"),
        (["debugToken": .null], "debugToken"),
        (["debugToken": .string("a"), "debug_token": .string("b")], "more than once"),
        (["debugToken": .string(TestService.debugToken), "limitedUse": .string("yes")], "limitedUse"),
        (["debugToken": .string(String(repeating: "x", count: 5000))], "too large"),
    ]

    @Test(
        "A request that is not of the method's form is rejected, and the message names the field",
        arguments: wrongBodies)
    func form(_ body: JSON, _ words: String) async throws {
        let service = try TestService()
        let reply = await service.call("exchangeDebugToken", TestService.app, body)
        guard case .failure(let failure) = reply.result else {
            Issue.record("it succeeded")
            return
        }
        #expect(failure.status == .invalidArgument)
        #expect(failure.message.contains(words), "\(failure.message)")
    }

    @Test("Evidence that is refused is refused in the same words whatever the reason")
    func opaque() async throws {
        let service = try TestService()
        let debug = await service.call("exchangeDebugToken", TestService.app, ["debugToken": "something else"])
        let (keyID, artifact) = try await service.attested()
        var options = AssertionOptions()
        options.authenticatorData = { $0.counter = 0 }
        let assertion = try await service.assert(keyID, artifact, options: options)
        for reply in [debug, assertion] {
            guard case .failure(let failure) = reply.result else {
                Issue.record("it succeeded")
                continue
            }
            #expect(failure.status == .permissionDenied)
            #expect(failure.message == "App attestation failed.")
        }
    }

    @Test("A store that fails never becomes a token: the client is told to try again")
    func storeDown() async throws {
        let service = try TestService()
        let (keyID, artifact) = try await service.attested()
        let challenge = try await service.challenge()
        service.store.isFailing = true
        let reply = try await service.attest(service.device.generateKey(), challenge: challenge)
        #expect(reply.status == .unavailable)
        guard case .failure(let failure) = reply.result else { return }
        #expect(failure.retryAfter != nil)
        #expect(try await service.assert(keyID, artifact).status == .unavailable)
        #expect(await service.engine.readiness != .ready)
        service.store.isFailing = false
        #expect(try await service.assert(keyID, artifact).status == nil)
        // What was found out of the store is good for three seconds.
        service.clock.advance(by: .seconds(3))
        #expect(await service.engine.readiness == .ready)
    }

    @Test("A provider that does not answer in time is given up, and nothing is issued")
    func deadline() async throws {
        let service = try TestService(
            plugins: [.provider(WaitingProvider.self)], providers: "          waiting: {}",
            options: Engine.Options(timeLimit: .seconds(3)))
        async let reply = service.call("exchangeWaiting")
        await service.clock.waitForSleepers(2)
        service.clock.advance(by: .seconds(3))
        #expect(await reply.status == .unavailable)
    }

    @Test(
        "A provider that breaks its word is at fault, and nothing is issued",
        arguments: ["reason", "fact", "field", "twice"])
    func fault(_ kind: String) async throws {
        let service = try TestService(
            plugins: [.provider(LawlessProvider.self)], providers: "          lawless: {}")
        let reply = await service.call("exchangeLawless", TestService.app, ["kind": .string(kind)])
        #expect(reply.status == .internalError)
    }

    @Test("Every decision is put on record once, with its identifier, and without a secret")
    func records() async throws {
        let service = try TestService()
        let good = await service.call(
            "exchangeDebugToken", TestService.app, ["debugToken": .string(TestService.debugToken)])
        let bad = await service.call("exchangeDebugToken", TestService.app, ["debugToken": "a secret of theirs"])
        let wrong = await service.call("exchangeDebugToken", "projects/a\nb/apps/1:2:ios:c")
        #expect(service.sink.records.map(\.decision) == [good.decision, bad.decision, wrong.decision])
        let issued = try #require(service.sink.record(of: good.decision))
        guard case .issued(let tokenID, limitedUse: false, let expires) = issued.outcome else {
            Issue.record("no token was issued")
            return
        }
        #expect(expires == service.clock.now + .seconds(3600))
        let token = try #require(good.result.get()["token"]?.string)
        #expect(try JSON.claims(of: token)["jti"]?.string == tokenID)
        #expect(issued.resource == TestService.appByNumber)
        #expect(issued.provider == "debug")
        #expect(issued.peer == "192.0.2.1")
        #expect(issued.facts.map(\.name) == ["debug_token", "debug_token_id"])
        #expect(issued.facts.first == Fact("debug_token", .text("local")))
        guard case .refused(let reason)? = service.sink.record(of: bad.decision)?.outcome else {
            Issue.record("it was not refused")
            return
        }
        #expect(reason.code == "debug_token_unknown")
        #expect(service.sink.record(of: wrong.decision)?.resource == "projects/a?b/apps/1:2:ios:c")
        let app = "1:1234567890:ios:321abc456def7890"
        #expect(service.sink.records.map(\.app) == [app, app, nil])
        for record in service.sink.records {
            let text = "\(record)"
            #expect(!text.contains("a secret of theirs"))
            #expect(!text.contains(TestService.debugToken))
            #expect(!text.contains(token))
        }
    }

    @Test("Other policies take the place of the present ones whole, or not at all")
    func reload() async throws {
        let service = try TestService()
        let body: JSON = ["debugToken": .string(TestService.debugToken)]
        let bad = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {tokns: []}}}]}]"
        let error = try #require(throws: Diagnostics.self) {
            try service.engine.replacePolicies(.load([PolicyFile(name: "bad.yaml", text: bad)]))
        }
        #expect(error.description.contains("did you mean `tokens`?"))
        #expect(await service.call("exchangeDebugToken", TestService.app, body).status == nil)

        let other = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {debug: {}}}]}]"
        try service.engine.replacePolicies(.load([PolicyFile(name: "good.yaml", text: other)]))
        #expect(await service.call("exchangeDebugToken", TestService.app, body).status == .notFound)
        #expect(
            await service.call("exchangeDebugToken", "projects/a/apps/1:1:ios:a", body).reason
                == "debug_token_unknown")
    }

    @Test("A name is known by its bytes: what Unicode only calls equivalent is no name")
    func equivalentName() async throws {
        let service = try TestService()
        let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:K', providers: {debug: {}}}]}]"
        try service.engine.replacePolicies(.load([PolicyFile(name: "a.yaml", text: text)]))
        let body: JSON = ["debugToken": .string(TestService.debugToken)]
        let (name, equivalent) = ("projects/a/apps/1:1:ios:K", "projects/a/apps/1:1:ios:\u{212A}")
        #expect(name == equivalent)
        #expect(await service.call("exchangeDebugToken", name, body).reason == "debug_token_unknown")
        #expect(await service.call("exchangeDebugToken", equivalent, body).status == .invalidArgument)
    }

    @Test("A policy with a provider that there is not is refused at its key")
    func unknownProvider() throws {
        let text = "projects: [{number: 1, id: a, apps: [{id: '1:1:ios:a', providers: {app_atest: {}}}]}]"
        let policies = try PolicySet.load([PolicyFile(name: "a.yaml", text: text)])
        let registry = try Registry([.provider(LawlessProvider.self), .provider(WaitingProvider.self)])
        let host = PluginHost(store: MemoryStore(clock: .system), logger: TestService.silent)
        let error = try #require(throws: Diagnostics.self) { try policies.check(registry, host: host) }
        #expect(error.all.first?.location.map { "\($0)" } == "a.yaml:1:68")
        #expect(error.all.first?.hint == "known here: `lawless`, `waiting`")
    }
}

/// Waits for ever, or until it is cancelled.
struct WaitingProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}
    struct Request: RequestMessage {
        init(_ fields: RequestFields) {}
    }

    static let descriptor = PluginDescriptor.provider(name: "waiting", summary: "Waits.", reasons: [])
    static let methods: [ProviderMethod<WaitingProvider>] = [
        .exchange("exchangeWaiting") { (provider, _: Request, _) in
            try await provider.clock.sleep(for: .seconds(3600))
            return .verified
        }
    ]

    let clock: HostClock

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {
        clock = host.clock
    }
}

/// Refuses with reasons, and states facts, that it did not declare.
struct LawlessProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}
    struct Request: RequestMessage {
        let kind: String

        init(_ fields: RequestFields) throws(InvalidRequest) {
            kind = try fields.string("kind")
        }
    }

    static let descriptor = PluginDescriptor.provider(name: "lawless", summary: "Breaks its word.", reasons: [])
    static let methods: [ProviderMethod<LawlessProvider>] = [
        .exchange("exchangeLawless", reply: .enclosed) { (_, request: Request, _) in
            switch request.kind {
            case "fact": .verified(Appraisal(facts: [Fact("undeclared", .bool(true))]))
            case "field": .verified(Appraisal(reply: [ReplyField("appCheckToken", "mine")]))
            case "twice": .verified(Appraisal(reply: [ReplyField("a", 1), ReplyField("a", 2)]))
            default: .refused(Reason("undeclared", "Not declared."))
            }
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) {}
}
