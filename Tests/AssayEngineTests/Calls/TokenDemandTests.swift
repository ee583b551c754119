import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayTesting
import Testing

/// What a user's token says otherwise than a good one, and the reason for which it is refused.
private let badUsers: [(user: JSON, reason: String)] = [
    (["iss": "https://nobody.example.com/"], "actor_issuer_unknown"), (["iss": nil], "actor_malformed"),
    (["aud": "another"], "actor_invalid"), (["aud": nil], "actor_invalid"), (["sub": nil], "actor_invalid"),
    (["sub": ""], "actor_invalid"), (["exp": 1000], "actor_expired"), (["exp": nil], "actor_invalid"),
]

@Suite("What consumers demand of tokens")
struct TokenDemandTests {
    @Test("Each thing that is wrong with a token has its reason and its status", arguments: ParcelService.Door.allCases)
    func reasons(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token()
        #expect(await service.open(nil).reason == "token_missing")
        #expect(await service.open(.several).reason == "token_repeated")
        #expect(await service.open(.inURL).reason == "token_in_url")
        #expect(await service.open(.one("x")).reason == "token_malformed")
        #expect(await service.open(.one(TestService.debugToken)).status == .unauthenticated)
        #expect(await service.open(.one(token)).status == nil)
        let development = await service.open(.one(try await service.token(debug: true)))
        #expect(development.reason == "token_for_development")
        #expect(development.status == .permissionDenied)
        service.clock.advance(by: .seconds(3601))
        #expect(await service.open(.one(token)).reason == "token_expired")
        #expect(await service.open(.one(token)).status == .unauthenticated)
    }

    @Test(
        "A policy's demands are met, or refused each for its own reason",
        arguments: [
            ("limited_use: true", "token_not_limited_use"), ("providers: [debug]", "token_provider_not_allowed"),
            ("apps: [\"\(ParcelService.secondApp)\"]", "token_app_not_allowed"), ("max_age: 1m", "token_too_old"),
        ], ParcelService.Door.allCases)
    func demands(_ demand: (policy: String, reason: String), _ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {\(demand.policy)}", door: door)
        let token = try await service.token()
        service.clock.advance(by: .seconds(61))
        for reply in [await service.open(.one(token)), await service.exchange(token)] {
            #expect(reply.reason == demand.reason)
            #expect(reply.status == .permissionDenied)
        }
        let other = try await service.token(ParcelService.secondApp, limitedUse: true)
        #expect(await service.open(.one(other)).reason == (demand.policy == "providers: [debug]" ? demand.reason : nil))
    }

    @Test("A token is too old from the first instant after its greatest age on", arguments: ParcelService.Door.allCases)
    func greatestAge(_ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {max_age: 1m}", door: door)
        let token = try await service.token()
        service.clock.advance(by: .seconds(60))
        #expect(await service.open(.one(token)).reason == nil)
        service.clock.advance(by: .milliseconds(1))
        #expect(await service.open(.one(token)).reason == "token_too_old")
    }

    @Test(
        "Tokens of providers for development are taken where the policy says so", arguments: ParcelService.Door.allCases
    )
    func development(_ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {accept_development: true}", door: door)
        #expect(await service.open(.one(try await service.token(debug: true))).status == nil)
    }

    @Test("A token finds the consumer of its own project, and no other", arguments: ParcelService.Door.allCases)
    func projects(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token()
        let other = try await service.token(ParcelService.otherApp, in: "9876543210")
        #expect(try await service.open(.one(token)).result.get()["app"] == .string(ParcelService.app))
        #expect(try await service.open(.one(other)).result.get()["app"] == .string(ParcelService.otherApp))
        #expect(await service.weigh(.one(other)).reason == "token_audience")
        #expect(await service.weigh(.one(other), audience: "https://other.example.com/").status == nil)
        let unknown = await service.weigh(.one(other), audience: "https://nobody.example.com/")
        #expect(unknown.status == .notFound)
        #expect(unknown.reason == "consumer_unknown")
        // The client is not told, and the record has what a mistyped name is found by.
        #expect(service.sink.records.last?.detail?.contains("has the name 'https://nobody.example.com/'") == true)
        for (field, text) in [
            ("audience", "https://nobody\u{202E}.example.com"), ("resource", "https://else.example.com/a"),
        ] {
            let changes: JSON = ["audience": .null]
            let target = JSONMember(field, .string(text))
            let members = (changes.members ?? []).filter { !$0.name.isExactly(field) } + [target]
            let reply = await service.exchange(other, .object(members))
            #expect(reply.reason == "consumer_unknown")
            let detail = service.sink.records.last?.detail
            #expect(
                detail == "no consumer has the \(field) '\(text.replacing("\u{202E}", with: "?"))'", "\(detail ?? "")")
        }
        // Of two nobody can say which is meant.
        #expect(await service.weigh(.one(token), audience: nil).status == .invalidArgument)
        #expect(try await ParcelService(isAlone: true, door: door).weigh(nil, audience: nil).status == .unauthenticated)
    }

    @Test(
        "An OAuth client's token is refused unless the policy takes those of OAuth clients, or names the client",
        arguments: [
            ("", "token_of_oauth_client"), ("tokens: {accept_oauth_clients: false}", "token_of_oauth_client"),
            ("tokens: {apps: [\"\(ParcelService.app)\"], accept_oauth_clients: true}", "token_app_not_allowed"),
            ("tokens: {accept_oauth_clients: true}", nil), ("tokens: {apps: [\(ParcelService.client)]}", nil),
        ] as [(String, String?)], ParcelService.Door.allCases)
    func clientDemand(_ demand: (policy: String, reason: String?), _ door: ParcelService.Door) async throws {
        let service = try ParcelService(demand.policy, door: door)
        let token = try await service.token(ParcelService.client)
        for reply in [await service.open(.one(token)), await service.exchange(token)] {
            #expect(reply.reason == demand.reason)
            #expect(reply.status == (demand.reason == nil ? nil : .permissionDenied))
        }
    }

    @Test("An OAuth client's token speaks for the client", arguments: ParcelService.Door.allCases)
    func client(_ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {accept_oauth_clients: true}", door: door)
        let token = try await service.token(ParcelService.client)
        #expect(try await service.open(.one(token)).result.get()["app"] == .string(ParcelService.client))
    }

    @Test("A limited-use token is good for one use, whatever it is used for", arguments: ParcelService.Door.allCases)
    func limitedUse(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token(limitedUse: true)
        #expect(try await service.open(.one(token)).result.get()["consumes"] == true)
        #expect(await service.open(.one(token)).reason == "token_reused")
        #expect(await service.exchange(token).reason == "token_reused")
        #expect(await service.weigh(.one(token)).reason == "token_reused")
        #expect(service.sink.records.last?.tokenUse?.category == .reused)
    }

    @Test("A session token is good for one use where a request demands it", arguments: ParcelService.Door.allCases)
    func replayProtection(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token()
        for _ in 0..<2 { #expect(await service.weigh(.one(token)).status == nil) }
        #expect(await service.weigh(.one(token), "once").status == nil)
        #expect(await service.weigh(.one(token), "once").reason == "token_reused")
    }

    @Test(
        "Of fifty requests at once with one token, one gets what the consumer gives",
        arguments: ParcelService.Door.allCases)
    func concurrent(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token(limitedUse: true)
        let granted = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<50 {
                group.addTask {
                    let reply = await index.isMultiple(of: 2) ? service.open(.one(token)) : service.exchange(token)
                    return reply.status == nil
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(granted == 1)
    }

    @Test(
        "A token stays good when nothing could be decided and when the consumer refuses, and is used up by what it allows",
        arguments: ParcelService.Door.allCases)
    func undecided(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token(limitedUse: true)
        #expect(await service.open(.one(token), "lost").status == .unavailable)
        #expect(await service.open(.one(token), "undeclared").status == .internalError)
        #expect(await service.open(.one(token), "heavy").reason == "parcel_too_heavy")
        #expect(await service.open(.one(token)).status == nil)
        #expect(await service.open(.one(token)).reason == "token_reused")
        #expect(await service.open(.one(token), "heavy").reason == "token_reused")
        // Nor is the consumer asked any more.
        #expect(await service.open(.one(token), "lost").reason == "token_reused")
    }

    @Test(
        "Without the state store no token that is good for one use opens anything",
        arguments: ParcelService.Door.allCases)
    func store(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token(limitedUse: true)
        service.store.isFailing = true
        let reply = await service.open(.one(token))
        #expect(reply.status == .unavailable)
        #expect(service.sink.record(of: reply.decision)?.facts.contains(Fact(.app, .text(ParcelService.app))) == true)
        service.store.isFailing = false
        #expect(await service.open(.one(token)).status == nil)
    }

    @Test("A user's token names the user where the policy trusts its issuer", arguments: ParcelService.Door.allCases)
    func user(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(ParcelService.actors, door: door)
        let token = try await service.token()
        #expect(try await service.open(.one(token), user: service.user()).result.get()["actor"] == "user-1")
        #expect(try await service.open(.one(token)).result.get()["actor"] == "nobody")
        let untrusting = try ParcelService(door: door)
        #expect(
            try await untrusting.open(.one(untrusting.token()), user: untrusting.user()).result.get()["actor"]
                == "nobody")
    }

    @Test(
        "A user's token that is no good is refused, each for its reason", arguments: badUsers,
        ParcelService.Door.allCases)
    func badUser(_ bad: (user: JSON, reason: String), _ door: ParcelService.Door) async throws {
        let service = try ParcelService(ParcelService.actors, door: door)
        let reply = await service.open(.one(try await service.token()), user: try service.user(bad.user))
        #expect(reply.reason == bad.reason)
        #expect(reply.status == .unauthenticated)
    }

    @Test("A user's token by another key is refused", arguments: ParcelService.Door.allCases)
    func forgedUser(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(ParcelService.actors, door: door)
        let user = try service.user(key: .generate(.ec(.p256)))
        #expect(await service.open(.one(try await service.token()), user: user).reason == "actor_invalid")
        let typed = try service.user(type: "dpop+jwt")
        #expect(await service.open(.one(try await service.token()), user: typed).reason == "actor_invalid")
    }

    @Test(
        "A record says that a request was admitted when it was, and never else", arguments: ParcelService.Door.allCases)
    func admitted(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(ParcelService.actors, door: door)
        let token = try await service.token()
        let forged = try service.user(key: .generate(.ec(.p256)))
        let replies = [
            await service.open(.one(token)), await service.open(.one(token), "heavy"), await service.open(nil),
            await service.open(.one(token), "lost"), await service.open(.one(token), "undeclared"),
            await service.open(.one(token), user: forged), await service.open(.one("x")),
        ]
        for (reply, status) in zip(
            replies,
            [
                nil, .permissionDenied, .unauthenticated, .unavailable, .internalError, .unauthenticated,
                .unauthenticated,
            ]
                as [StatusCode?])
        {
            #expect(reply.status == status)
            let record = try #require(service.sink.record(of: reply.decision))
            // What names no project that is known is not counted at all.
            #expect((record.tokenUse?.isAdmitted ?? false) == (status == nil), "\(record)")
        }
    }

    @Test(
        "A user's token that is not good is explained in the record where it is let through",
        arguments: ParcelService.Door.allCases)
    func waivedUser(_ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {enforcement: UNENFORCED}\n" + ParcelService.actors, door: door)
        let user = try service.user(["aud": "somebody else"])
        #expect(await service.weigh(.one(try await service.token()), user: user).status == nil)
        let record = try #require(service.sink.records.last)
        #expect(record.unenforced?.code == "actor_invalid")
        #expect(
            record.detail
                == "let through: actor_invalid, its 'aud' is 'somebody else', expected 'https://assay.example.com'")
    }

    @Test(
        "What may go unenforced is let through and counted; what gives something never is",
        arguments: ParcelService.Door.allCases)
    func unenforced(_ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {enforcement: UNENFORCED, max_age: 1m}", door: door)
        let token = try await service.token()
        #expect(try await service.weigh(nil).result.get()["unenforced"] == "token_missing")
        #expect(service.sink.records.last?.tokenUse?.category == .unknownOrigin)
        #expect(service.sink.records.last?.tokenUse?.isAdmitted == true)
        #expect(service.sink.records.last?.unenforced?.code == "token_missing")
        #expect(service.sink.records.last?.detail == "let through: token_missing")
        #expect(try await service.weigh(.one("x")).result.get()["unenforced"] == "token_malformed")
        #expect(service.sink.records.last?.tokenUse?.category == .invalid)
        #expect(try await service.weigh(.one(token)).result.get()["app"] == .string(ParcelService.app))
        #expect(service.sink.records.last?.tokenUse?.category == .verified)
        #expect(service.sink.records.last?.unenforced == nil)
        for _ in 0..<2 { #expect(await service.weigh(.one(token), "once").status == nil) }
        #expect(service.sink.records.last?.unenforced?.code == "token_reused")
        #expect(service.sink.records.last?.tokenUse?.isAdmitted == true)
        // What the consumer itself refuses is not let through, and what is wrong with the token is said anyway.
        for (wish, status) in [("heavy", StatusCode.permissionDenied), ("lost", .unavailable)] {
            #expect(await service.weigh(nil, wish).status == status)
            let record = try #require(service.sink.records.last)
            #expect(record.tokenUse?.isAdmitted == false)
            #expect(record.unenforced?.code == "token_missing")
            #expect(record.detail?.contains("let through") == false)
        }
        #expect(await service.open(nil).reason == "token_missing")
        #expect(await service.exchange("x").reason == "token_malformed")
        let off = try ParcelService("tokens: {enforcement: OFF}", door: door)
        #expect(try await off.weigh(.one("x")).result.get()["unenforced"] == "")
        #expect(off.sink.records.last?.tokenUse == nil)
        #expect(await off.open(nil).reason == "token_missing")
    }

    @Test(
        "A user who is not known is no reason to refuse where nothing is enforced",
        arguments: ParcelService.Door.allCases)
    func unenforcedUser(_ door: ParcelService.Door) async throws {
        let service = try ParcelService("tokens: {enforcement: UNENFORCED}\n\(ParcelService.actors)", door: door)
        let token = try await service.token()
        let bad = try service.user(["aud": "another"])
        #expect(try await service.weigh(.one(token), user: bad).result.get()["actor"] == "nobody")
        #expect(try await service.weigh(.one(token), user: service.user()).result.get()["actor"] == "user-1")
        #expect(await service.open(.one(token), user: bad).reason == "actor_invalid")
    }

    @Test("Whose token it was is put on record, whatever the consumer does", arguments: ParcelService.Door.allCases)
    func record(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token()
        for wish in ["", "heavy", "undeclared", "fact", "lost"] {
            let reply = await service.open(.one(token), wish)
            let record = try #require(service.sink.record(of: reply.decision))
            #expect(record.provider == "vouch", "\(wish)")
            #expect(record.facts.contains(Fact(.app, .text(ParcelService.app))), "\(wish)")
            #expect(record.tokenUse?.category == .verified, "\(wish)")
            let isExpected =
                switch (wish, record.outcome) {
                case ("", .answered), ("lost", .failed(.unavailable)): true
                case ("heavy", .refused(let reason)): reason == ParcelConsumer.tooHeavy
                case ("undeclared", .failed(.internalError)), ("fact", .failed(.internalError)): true
                default: false
                }
            #expect(isExpected, "\(wish): \(record.outcome)")
        }
    }

    @Test("What a refused client claims is on record as far as it is well typed, and is no fault of the consumer")
    func claims() async throws {
        // The only project is that of a request without a token.
        let service = try ParcelService(isAlone: true)
        let reply = await service.open(nil, "claims")
        #expect(reply.status == .unauthenticated)
        let record = try #require(service.sink.record(of: reply.decision))
        #expect(record.facts.filter { $0.name == ParcelConsumer.weight } == [Fact(ParcelConsumer.weight, .integer(7))])
        let isNamed = record.detail?.hasSuffix("dropped facts whose values are not of their types: parcel_weight")
        #expect(isNamed == true, "\(record.detail ?? "")")
        #expect(await service.open(nil, "odd claims").status == .internalError, "a name is the plugin's own")
    }

    @Test("A consumer says with a refusal which facts it saw")
    func factsOfRefusal() async throws {
        let service = try ParcelService()
        let reply = await service.open(.one(try await service.token()), "heavier")
        #expect(reply.status == .permissionDenied)
        let record = try #require(service.sink.record(of: reply.decision))
        #expect(record.facts.filter { $0.name == ParcelConsumer.weight } == [Fact(ParcelConsumer.weight, .integer(10))])
        #expect(record.detail?.hasPrefix("10 tons") == true, "\(record.detail ?? "")")
    }

    @Test(
        "Calls for an app beyond its limit are refused before the consumer is asked",
        arguments: ParcelService.Door.allCases)
    func limits(_ door: ParcelService.Door) async throws {
        let service = try ParcelService(door: door)
        let token = try await service.token()
        // The token itself was a call, too.
        for _ in 0..<99 { #expect(await service.open(.one(token), "lost").status == .unavailable) }
        let limited = await service.open(.one(token), "lost")
        #expect(limited.reason == "rate_limited")
        let record = try #require(service.sink.record(of: limited.decision))
        #expect(record.provider == "vouch")
        #expect(record.facts.contains(Fact(.app, .text(ParcelService.app))))
        #expect(record.facts.contains { $0.name == .tokenID })
        // The consumer that failed so often rests for a while.
        #expect(
            service.engine.pluginHealth.first { $0.name.isExactly("parcel") }?.summary
                == "failing: its calls kept failing, for projects/1234567890")
        service.clock.advance(by: .seconds(6))
        // Those that only ask are as many as a backend has requests.
        #expect(await service.weigh(.one(token)).status == nil)
    }
}
