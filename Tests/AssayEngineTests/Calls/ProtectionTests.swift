import AssayCore
import AssayEngine
import AssayKit
import AssayPolicy
import AssayTesting
import AssayVerifier
import Testing

@Suite("Requests to protected services", .timeLimit(.minutes(20)))
struct ProtectionTests {
    private static let project = """
        services: {off.example.com: {}, watched.example.com: {enforcement: UNENFORCED},
          closed.example.com: {enforcement: ENFORCED},
          once.example.com: {enforcement: ENFORCED, replay_protection: ENFORCED},
          counted.example.com: {enforcement: ENFORCED, replay_protection: UNENFORCED},
          apart.example.com: {enforcement: ENFORCED, replay_protection: ENFORCED, consumption: separate},
          lax.example.com: {enforcement: ENFORCED, consumption: separate},
          open.example.com: {enforcement: ENFORCED, accept_development: true},
          places.googleapis.com: {enforcement: UNENFORCED, editable: true},
          oauth2.googleapis.com: {enforcement: ENFORCED, editable: true}}
        """

    private let service: AdminService

    init() throws {
        service = try AdminService(project: Self.project)
    }

    private func protect(
        _ id: String, _ token: String?, _ client: ClientTraits = ClientTraits(), oauthClient: String? = nil
    ) async -> Protection {
        await service.engine.protect(
            ProtectedRequest(
                project: "example-project", service: id, oauthClient: oauthClient, token: token, client: client,
                peer: "192.0.2.7"))
    }

    private func status(_ protection: Protection) -> StatusCode? {
        if case .failure(let failure) = protection.result { failure.status } else { nil }
    }

    /// The category and whether the request was let through, as they are on record.
    private func counted(_ protection: Protection) -> String {
        guard let use = service.sink.record(of: protection.decision)?.tokenUse else { return "not counted" }
        #expect(use.isAdmitted == (status(protection) == nil))
        return "\(use.category.rawValue) \(use.isAdmitted) \(use.app == nil ? "-" : "app")"
    }

    private static let sdk = ClientTraits(isFirebaseSDK: true, appID: AdminService.appID)

    @Test(
        "Each level counts the same and lets through what it says",
        arguments: [
            ("off.example.com", ["not counted", "not counted", "not counted", "not counted"]),
            ("firebaseml.googleapis.com", ["not counted", "not counted", "not counted", "not counted"]),
            (
                "watched.example.com",
                ["verified true app", "outdated_client true app", "unknown_origin true -", "invalid true -"]
            ),
            (
                "closed.example.com",
                ["verified true app", "outdated_client false app", "unknown_origin false -", "invalid false -"]
            ),
        ])
    func levels(_ id: String, _ expected: [String]) async throws {
        let token = try await service.token()
        let found = [
            counted(await protect(id, token)), counted(await protect(id, nil, Self.sdk)),
            counted(await protect(id, "")), counted(await protect(id, TokenVerifier.placeholder)),
        ]
        #expect(found == expected)
    }

    @Test("A request that is refused is told whether its token is missing or wrong, and the record says why")
    func refusal() async throws {
        for (token, word, reason) in [
            (nil, "missing", "token_missing"), (TokenVerifier.placeholder, "invalid", "token_placeholder"),
        ] {
            let protection = await protect("closed.example.com", token)
            guard case .failure(let failure) = protection.result else {
                Issue.record("it is let through")
                continue
            }
            #expect(failure.status == .unauthenticated)
            #expect(failure.message == "Firebase App Check token is \(word).")
            #expect(failure.reason?.code == reason)
            let record = try #require(service.sink.record(of: protection.decision))
            #expect(record.method == "protect")
            #expect(record.resource == "projects/1234567890/services/closed.example.com")
            #expect(record.peer == "192.0.2.7")
            guard case .refused(let recorded) = record.outcome else {
                Issue.record("\(record.outcome)")
                continue
            }
            #expect(recorded.code == reason)
        }
        let watched = await protect("watched.example.com", nil)
        let record = try #require(service.sink.record(of: watched.decision))
        #expect(record.detail == "let through: token_missing")
        #expect(record.unenforced?.code == "token_missing")
        let good = await protect("watched.example.com", try await service.token())
        #expect(try #require(service.sink.record(of: good.decision)).unenforced == nil)
        #expect(try #require(service.sink.record(of: good.decision)).app == AdminService.appID)
    }

    @Test(
        "Replay protection counts a session token's second use from UNENFORCED on, and refuses it when ENFORCED",
        arguments: [
            ("closed.example.com", "verified true app"), ("counted.example.com", "reused true app"),
            ("once.example.com", "reused false app"),
        ])
    func replay(_ id: String, _ second: String) async throws {
        let token = try await service.token(AdminService.app, [:])
        #expect(counted(await protect(id, token)) == "verified true app")
        let protection = await protect(id, token)
        #expect(counted(protection) == second)
        if case .failure(let failure) = protection.result { #expect(failure.reason?.code == "token_reused") }
        #expect(service.isConsumed(await service.verify(token)) == (id == "once.example.com"))
    }

    @Test(
        "A limited-use token is good once, whatever the replay protection, unless the service counts by itself",
        arguments: [
            ("closed.example.com", "reused false app", true), ("counted.example.com", "reused false app", true),
            ("once.example.com", "reused false app", true), ("watched.example.com", "reused true app", true),
            ("apart.example.com", "reused false app", false), ("lax.example.com", "verified true app", false),
        ])
    func limitedUse(_ id: String, _ second: String, _ isConsumed: Bool) async throws {
        let token = try await service.token()
        #expect(counted(await protect(id, token)) == "verified true app")
        #expect(counted(await protect(id, token)) == second)
        #expect(service.isConsumed(await service.verify(token)) == isConsumed)
    }

    @Test("Of fifty requests with one token at the same time, one is let through")
    func concurrency() async throws {
        let token = try await service.token()
        let admitted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { status(await protect("once.example.com", token)) == nil } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(admitted == 1)
    }

    @Test("Tokens for development are good only where the service says so")
    func development() async throws {
        let debug = try await service.token(
            AdminService.app, ["debugToken": .string(AdminService.debugToken)], by: "exchangeDebugToken")
        #expect(counted(await protect("open.example.com", debug)) == "verified true app")
        #expect(counted(await protect("closed.example.com", debug)) == "invalid false app")
    }

    @Test("A level that administrators set is in force at once; a policy for one OAuth client goes before it")
    func edited() async throws {
        _ = try await service.call(
            "updateService", AdminService.project,
            [
                "serviceId": "places.googleapis.com", "updateMask": "enforcementMode",
                "service": ["enforcementMode": "ENFORCED"],
            ]
        ).result.get()
        #expect(status(await protect("places.googleapis.com", nil)) == .unauthenticated)
        #expect(status(await protect("oauth2.googleapis.com", nil, oauthClient: "a")) == .unauthenticated)
        _ = try await service.call(
            "createResourcePolicy", AdminService.project,
            [
                "serviceId": "oauth2.googleapis.com",
                "resourcePolicy": [
                    "targetResource": "//oauth2.googleapis.com/projects/1234567890/oauthClients/a",
                    "enforcementMode": "UNENFORCED",
                ],
            ]
        ).result.get()
        #expect(status(await protect("oauth2.googleapis.com", nil, oauthClient: "a")) == nil)
        #expect(status(await protect("oauth2.googleapis.com", nil, oauthClient: "b")) == .unauthenticated)
        #expect(status(await protect("oauth2.googleapis.com", nil)) == .unauthenticated)
    }

    @Test(
        "A store that fails refuses where the decision depends on it, and nowhere else",
        arguments: [
            ("off.example.com", nil), ("watched.example.com", nil), ("closed.example.com", nil),
            ("counted.example.com", nil), ("once.example.com", .unavailable),
            ("places.googleapis.com", .unavailable),
        ] as [(String, StatusCode?)])
    func storeDown(_ id: String, _ expected: StatusCode?) async throws {
        let token = try await service.token(AdminService.app, [:])
        service.store.isFailing = true
        #expect(status(await protect(id, token)) == expected)
    }

    @Test(
        "A store that keeps silent is given up, and what is only counted is let through",
        arguments: [("counted.example.com", nil), ("once.example.com", .unavailable)] as [(String, StatusCode?)])
    func storeSilent(_ id: String, _ expected: StatusCode?) async throws {
        let service = try AdminService(project: Self.project, store: SilentStore())
        let token = try await service.token(AdminService.app, [:])
        let request = ProtectedRequest(project: "example-project", service: id, token: token)
        async let protection = service.engine.protect(request)
        // One alarm is for the decision; where the use is only counted, another one is for that.
        await service.clock.waitForSleepers(expected == nil ? 2 : 1)
        service.clock.advance(by: expected == nil ? .milliseconds(2500) : .seconds(10))
        let decided = await protection
        #expect(status(decided) == expected)
        // Nobody knows of another use.
        let category: TokenUse.Category? = expected == nil ? .verified : nil
        #expect(service.sink.record(of: decided.decision)?.tokenUse?.category == category)
    }

    @Test("What there is not is not let through")
    func unknown() async {
        #expect(status(await protect("nobody.example.com", nil)) == .invalidArgument)
        let request = ProtectedRequest(project: "nobody", service: "closed.example.com", token: nil)
        #expect(status(await service.engine.protect(request)) == .notFound)
    }

    @Test("An admission carries the verified token")
    func admission() async throws {
        let protection = await protect("closed.example.com", try await service.token())
        #expect(try protection.result.get().token?.subject == AdminService.appID)
        #expect(try protection.result.get().use?.enforcement == .enforced)
        let off = await protect("off.example.com", try await service.token())
        #expect(try off.result.get().token == nil)
    }

    @Test(
        "A Firebase SDK is known by its headers",
        arguments: [
            ([:], false), (["user-agent": "curl/8"], false), (["x-firebase-client": "e30"], true),
            (["x-firebase-gmpid": "1:1:ios:a"], true), (["x-goog-api-client": "gl-js/ fire/11.0.0"], true),
            (["x-goog-api-client": "gl-python/3.11 gax/2"], false),
            (["x-client-version": "iOS/FirebaseSDK/12.0.0/FirebaseCore-iOS"], true),
            (["user-agent": "fire-android/21"], true),
        ] as [([String: String], Bool)])
    func traits(_ headers: [String: String], _ expected: Bool) {
        let traits = ClientTraits { headers[$0] }
        #expect(traits.isFirebaseSDK == expected)
        #expect(traits.appID == headers["x-firebase-gmpid"])
    }
}
