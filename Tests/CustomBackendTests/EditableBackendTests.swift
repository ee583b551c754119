import AssayCore
import AssayCrypto
import AssayCustomBackend
import AssayDebug
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

/// A backend is a service of its project: `services/NAME` of the administration API is what its requests are judged by.
@Suite("Backends whose levels administrators may change", .timeLimit(.minutes(20)))
struct EditableBackendTests {
    private static let admin = "admin-token-0123456789"
    private static let backends = """
          tokens: {accept_development: true, accept_oauth_clients: true}
          backends:
            orders:
              tokens: {enforcement: UNENFORCED}
              editable: true
              original_request: x-original
              routes:
                - {path: /stated, tokens: {enforcement: ENFORCED}}
                - {path: /open, tokens: {enforcement: OFF}}
                - {path: /once, tokens: {replay_protection: UNENFORCED}}
                - {path: /limited, tokens: {limited_use: true}}
            fixed: {tokens: {enforcement: UNENFORCED}}
            plain: {tokens: {enforcement: OFF}, editable: true}
            oauth2.googleapis.com: {editable: true}
        """

    private let clock = ManualClock()
    private let sink = RecordingSink()
    private let store: FailingStore
    /// Two servers that share the state and the keys.
    private let engines: [Engine]

    init() throws {
        let store = FailingStore(MemoryStore(clock: clock.hostClock))
        let clock = clock
        let sink = sink
        let keys: any KeySource = .pooled()
        self.store = store
        engines = try (0..<2).map { _ in
            try Engine(
                registry: VerifyService.registry(),
                policies: .load([PolicyFile(name: "test.yaml", text: Self.policy(Self.backends))]), keys: keys,
                host: PluginHost(clock: clock.hostClock, store: store, logger: VerifyService.host(clock).logger),
                sink: sink)
        }
    }

    private static func policy(_ backends: String, services: String = "") -> String {
        let hash = Hex.encode(SHA256.hash(Array(admin.utf8)))
        let debug = Hex.encode(DebugToken.hash(of: VerifyService.secret))
        return "callers: {root: {sha256: \(hash), permissions: [admin]}}\n"
            + VerifyService.policy(backends).replacing(
                "    id: example-project\n",
                with: "    id: example-project\n\(services)    oauth_clients: [{id: a, app: \"\(VerifyService.app)\", "
                    + "providers: {debug: {tokens: [{name: local, sha256: \(debug)}]}}}]\n")
    }

    private func administer(_ method: String, _ body: JSON, at server: Int = 0) async -> Reply {
        await engines[server].handle(
            Call(method, resource: "projects/example-project", body: body, credentials: BearerToken(Self.admin)))
    }

    private func set(_ service: String, _ enforcement: String, replay: String = "OFF") async -> Reply {
        await administer(
            "updateService",
            [
                "serviceId": .string(service), "updateMask": "enforcementMode,replayProtection",
                "service": ["enforcementMode": .string(enforcement), "replayProtection": .string(replay)],
            ])
    }

    /// How a request ends: `allowed`, or the code of the reason, or the status.
    private func ask(
        _ backend: String, _ token: PresentedToken?, _ path: String = "/", at server: Int = 0
    ) async -> String {
        let reply = await engines[server].handle(
            Call(
                "verifyRequest",
                body: ["backend": .string(backend), "originalMethod": "GET", "originalUri": .string(path)], token: token
            ))
        return reply.reason ?? reply.status?.rawValue ?? "allowed"
    }

    private func token(
        _ resource: String = "projects/example-project/apps/\(VerifyService.app)"
    ) async throws -> PresentedToken {
        let reply = await engines[0].handle(
            Call(
                "exchangeDebugToken", resource: resource, body: ["debugToken": .string(VerifyService.secret)]))
        return .one(try #require(try reply.result.get()["token"]?.string))
    }

    @Test(
        "A misspelled level is refused, and changes nothing; a level that the mask names and the message lacks is OFF")
    func unknownFields() async throws {
        #expect(try await set("orders", "ENFORCED").result.get()["enforcementMode"] == "ENFORCED")
        let misspelled: JSON = [
            "serviceId": "orders", "updateMask": "enforcementMode", "service": ["enforcmentMode": "ENFORCED"],
        ]
        let reply = await administer("updateService", misspelled)
        #expect(reply.status == .invalidArgument)
        guard case .failure(let failure) = reply.result else { return }
        #expect(failure.message.contains("did you mean `enforcementMode`?"))
        #expect(await ask("orders", nil) == "token_missing")
        // As with Google's service, and as Terraform deletes one.
        _ = await administer("updateService", ["serviceId": "orders", "updateMask": "enforcementMode", "service": [:]])
        #expect(await ask("orders", nil) == "allowed")
    }

    @Test("A service is given the levels of its policy again, and what differs from the policy is said until then")
    func reset() async throws {
        #expect(engines[0].overriddenLevels == nil)
        _ = try await set("plain", "ENFORCED").result.get()
        #expect(await ask("plain", nil) == "token_missing")
        let refresh = Task { [engines] in await engines[0].runRefresh() }
        defer { refresh.cancel() }
        for _ in 0..<10_000 where engines[0].overriddenLevels == nil { await Task.yield() }
        let note = try #require(engines[0].overriddenLevels)
        #expect(note.contains("services/plain is ENFORCED since") && note.contains("and OFF at test.yaml:"))
        #expect(await administer("resetService", ["serviceId": "fixed"]).status == .failedPrecondition)
        let reply = try await administer("resetService", ["serviceId": "plain"]).result.get()
        #expect(reply["enforcementMode"] == nil)
        #expect(await ask("plain", nil) == "allowed")
    }

    @Test("A resource policy that is stricter than its service is said, because it protects nothing")
    func weakResourcePolicy() async throws {
        #expect(try await set("oauth2.googleapis.com", "UNENFORCED").result.get()["enforcementMode"] == "UNENFORCED")
        let created = await administer(
            "createResourcePolicy",
            [
                "serviceId": "oauth2.googleapis.com",
                "resourcePolicy": [
                    "targetResource": "//oauth2.googleapis.com/projects/example-project/oauthClients/a",
                    "enforcementMode": "ENFORCED",
                ],
            ])
        #expect(created.status == nil)
        #expect(await ask("oauth2.googleapis.com", nil) == "allowed")
        let refresh = Task { [engines] in await engines[0].runRefresh() }
        for _ in 0..<10_000 where engines[0].weakResourcePolicies == nil { await Task.yield() }
        refresh.cancel()
        let note = try #require(engines[0].weakResourcePolicies)
        #expect(note.contains("/oauthClients/a is ENFORCED, and the service is UNENFORCED"), "\(note)")

        _ = try await set("oauth2.googleapis.com", "ENFORCED").result.get()
        let again = Task { [engines] in await engines[0].runRefresh() }
        for _ in 0..<10_000 where engines[0].weakResourcePolicies != nil { await Task.yield() }
        again.cancel()
        #expect(engines[0].weakResourcePolicies == nil)
    }

    @Test(
        "A level that an administrator sets holds at once, on the other server within two seconds, and not for routes that state one"
    )
    func enforcement() async throws {
        #expect(await ask("orders", nil) == "allowed")
        #expect(try await set("orders", "ENFORCED").result.get()["enforcementMode"] == "ENFORCED")
        #expect(await ask("orders", nil) == "token_missing")
        #expect(await ask("orders", nil, at: 1) == "token_missing")
        #expect(try await set("orders", "OFF").result.get()["enforcementMode"] == nil)
        #expect(await ask("orders", nil) == "allowed")
        // The other server has looked less than two seconds ago.
        #expect(await ask("orders", nil, at: 1) == "token_missing")
        clock.advance(by: .seconds(2))
        #expect(await ask("orders", nil, at: 1) == "allowed")
        #expect(await ask("orders", nil, "/stated") == "token_missing")
        #expect(await ask("orders", nil, "/limited") == "allowed")
        #expect(try await set("orders", "ENFORCED").result.get()["enforcementMode"] == "ENFORCED")
        #expect(await ask("orders", nil, "/open") == "allowed")
        #expect(await ask("orders", nil, "/limited") == "token_missing")
        #expect(await ask("orders", nil, "//x") == "backend_target_ambiguous")
        // What is counted has the level in force.
        let record = sink.records.last { $0.tokenUse?.service == "orders" }
        #expect(record?.tokenUse?.enforcement == .enforced)
    }

    @Test("Replay protection that an administrator sets refuses the second use of a session token")
    func replay() async throws {
        let token = try await token()
        #expect(await ask("orders", token) == "allowed")
        #expect(await ask("orders", token) == "allowed")
        _ = try await set("orders", "ENFORCED", replay: "ENFORCED").result.get()
        // Uses that did not count are not remembered.
        #expect(await ask("orders", token) == "allowed")
        #expect(await ask("orders", token) == "token_reused")
        // The route says that repeated uses are counted only.
        #expect(await ask("orders", token, "/once") == "allowed")
    }

    @Test("Services of the administration API are the backends, each with its levels")
    func listed() async throws {
        let list = try await administer("listServices", [:]).result.get()["services"]?.array ?? []
        #expect(
            list.map {
                "\($0["name"]?.string?.split(separator: "/").last ?? "") \($0["enforcementMode"]?.string ?? "OFF")"
            }
                == ["fixed UNENFORCED", "oauth2.googleapis.com ENFORCED", "orders UNENFORCED", "plain OFF"])
        guard case .failure(let refused) = await set("fixed", "ENFORCED").result else {
            Issue.record("a level that the policy keeps was changed")
            return
        }
        #expect(refused.status == .failedPrecondition)
        #expect(refused.message.contains("test.yaml:"), "\(refused.message)")
        #expect(await ask("fixed", nil) == "allowed")
    }

    @Test("A service without a backend can be changed, and the record says that nothing here enforces it")
    func withoutBackend() async throws {
        let text = Self.policy(Self.backends, services: "    services: {firestore.googleapis.com: {editable: true}}\n")
        let policies = try PolicySet.load([PolicyFile(name: "test.yaml", text: text)])
        #expect(policies.servicesWithoutBackend.map(\.location?.line) == [6])
        try engines[0].replacePolicies(policies)
        let fact = { [sink] in
            sink.records.last?.facts.first { $0.name == .serviceLevel }.map { "\($0.value)" } ?? ""
        }
        _ = try await set("firestore.googleapis.com", "ENFORCED").result.get()
        #expect(fact().contains("nothing here enforces it"))
        _ = try await set("plain", "ENFORCED").result.get()
        #expect(fact() == "plain ENFORCED, replay protection OFF")
    }

    @Test("A backend whose name also stands in `services` has two levels, and is refused")
    func twice() throws {
        let text = Self.policy(Self.backends, services: "    services: {orders: {enforcement: ENFORCED}}\n")
        let error = #expect(throws: Diagnostics.self) {
            try PolicySet.read([PolicyFile(name: "test.yaml", text: text)])
                .check(VerifyService.registry(), host: VerifyService.host(ManualClock()))
        }
        let words = error.map { "\($0.all.map { "\($0)" })" } ?? ""
        #expect(error?.all.count == 1, "\(words)")
        #expect(
            words.contains("custom_backend.backends.orders: `orders` also stands in `services` at test.yaml:6:"),
            "\(words)")
    }

    @Test("A resource policy sets the level for requests with tokens of one OAuth client")
    func clients() async throws {
        let name = "oauth2.googleapis.com"
        let client = try await token("oauthClients/a")
        #expect(await ask(name, client) == "allowed")
        let id = try #require(sink.records.last?.facts.first { $0.name == .tokenID }.map { "\($0.value)" })
        _ = try await administer("createDenyEntry", ["denyEntry": ["match": ["jti": .string(id)]]]).result.get()
        #expect(await ask(name, client) == "token_denied")
        _ = try await administer(
            "createResourcePolicy",
            [
                "serviceId": .string(name),
                "resourcePolicy": [
                    "targetResource": "//oauth2.googleapis.com/projects/1234567890/oauthClients/a",
                    "enforcementMode": "UNENFORCED",
                ],
            ]
        ).result.get()
        #expect(await ask(name, client) == "allowed")
        #expect(await ask(name, nil) == "token_missing")
        #expect(await ask("orders", client) == "allowed")
    }

    @Test("Levels that cannot be read before they are known decide nothing; those that are known stay in force")
    func storeDown() async throws {
        store.isFailing = true
        #expect(await ask("orders", nil) == "UNAVAILABLE")
        #expect(await ask("plain", nil) == "UNAVAILABLE")
        store.isFailing = false
        _ = try await set("plain", "ENFORCED").result.get()
        store.isFailing = true
        clock.advance(by: .seconds(60))
        #expect(await ask("plain", nil) == "token_missing")
        #expect(await ask("orders", nil, "/stated") == "token_missing")
        store.isFailing = false
    }

    @Test("A program that asks `protect` about a backend gets its levels; one with routes is for its method alone")
    func protect() async throws {
        func status(_ service: String) async -> StatusCode? {
            let protection = await engines[0].protect(
                ProtectedRequest(project: "example-project", service: service, token: nil))
            if case .failure(let failure) = protection.result { return failure.status }
            return nil
        }
        #expect(await status("plain") == nil)
        #expect(await status("fixed") == nil)
        #expect(await status("orders") == .invalidArgument)
        _ = try await set("plain", "ENFORCED").result.get()
        #expect(await status("plain") == .unauthenticated)
    }
}
