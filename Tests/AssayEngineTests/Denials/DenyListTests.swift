import AssayCore
import AssayCrypto
import AssayEngine
@testable import AssayServices
import AssayKit
import AssayPolicy
import AssayTesting
import AssayYAML
import Testing

/// A provider that believes everything, and whose key identifies the attester.
private struct BadgeProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let facts: [Fact]

        init(_ fields: RequestFields) throws(InvalidRequest) {
            var facts: [Fact] = []
            if let text = try fields.optionalString("key") { facts.append(Fact(BadgeProvider.key, .text(text))) }
            if let text = try fields.optionalString("version") {
                facts.append(Fact(BadgeProvider.version, .text(text)))
            }
            if let bit = try fields.optionalString("bit") { facts.append(Fact(BadgeProvider.bit, .bool(bit == "1"))) }
            self.facts = facts
        }
    }

    static let key = FactName("badge_key", .digest, identifiesAttester: true)
    static let version = FactName("version", .version)
    static let bit = FactName("bit0", .bool)

    static let descriptor = PluginDescriptor.provider(
        name: "badge", summary: "Believes everything.", reasons: [], facts: [key, version, bit])
    static let methods: [ProviderMethod<BadgeProvider>] = [
        .exchange("exchangeBadge") { (provider, request: Request, context) in
            .verified(Appraisal(facts: request.facts))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("The deny list")
struct DenyListTests {
    private static let bytes = SHA256.hash(Array("a key".utf8))
    private static let key = Base64.encode(bytes)
    private static let otherKey = Base64.encode(SHA256.hash(Array("another key".utf8)))
    private static let admin = "admin-token-0123456789"
    private static let denier = "denier-token-0123456789"
    private static let project = "projects/\(TestApp.first.projectID)"

    private static func engine(deny: String = "[]", app: String = "") throws -> TestEngine {
        let hash = { (text: String) in Hex.encode(SHA256.hash(Array(text.utf8))) }
        let callers = """
            callers:
              root: {sha256: \(hash(admin)), permissions: [admin]}
              night: {sha256: \(hash(denier)), permissions: [denyList.manage]}

            """
        return try TestEngine(
            [.provider(BadgeProvider.self)],
            policy: "deny: \(deny)\n" + callers + TestEngine.policy(providers: "badge: {}", app: app))
    }

    private func exchange(_ engine: TestEngine, _ body: JSON) async throws -> (token: String?, reason: Reason?) {
        let reply = await engine.call("exchangeBadge", TestEngine.app, body)
        switch reply.result {
        case .success(let message): return (message["token"]?.string, nil)
        case .failure(let failure): return (nil, failure.reason)
        }
    }

    private func verify(_ engine: TestEngine, _ token: String) async -> Reason? {
        let reply = await engine.call(
            "verifyAppCheckToken", Self.project, ["appCheckToken": .string(token)], credentials: Self.admin)
        if case .failure(let failure) = reply.result { return failure.reason }
        return nil
    }

    @Test(
        "An entry refuses evidence whose facts it names, however a digest is spelled",
        arguments: [
            ("[{badge_key: \"\(key)\"}]", ["key": .string(key)], true),
            ("[{badge_key: \"\(Base64.encodeURL(bytes))\"}]", ["key": .string(key)], true),
            ("[{badge_key: \"\(Hex.encode(bytes))\"}]", ["key": .string(key)], true),
            ("[{badge_key: \"\(key)\"}]", ["key": .string(Hex.encode(bytes))], true),
            ("[{badge_key: [\"\(otherKey)\", \"\(key)\"]}]", ["key": .string(key)], true),
            ("[{badge_key: \"\(otherKey)\"}]", ["key": .string(key)], false),
            ("[{badge_key: {not: \"\(otherKey)\"}}]", ["key": .string(key)], true),
            ("[{version: 1.2}]", ["version": "1.2.0"], true),
            ("[{version: {below: 1.3}}]", ["version": "1.2.9"], true),
            ("[{version: {below: 1.3}}]", ["version": "1.10"], false),
            ("[{bit0: true}]", ["bit": "1"], true),
            ("[{bit0: true}]", ["bit": "0"], false),
            ("[{provider: badge}]", [:], true),
            ("[{version: 1.2, bit0: true}]", ["version": "1.2", "bit": "1"], true),
            ("[{version: 1.2, bit0: true}]", ["version": "1.2", "bit": "0"], false),
            ("[{badge_key: \"\(key)\", until: 2099-01-01T00:00:00Z}]", ["key": .string(key)], true),
            ("[{badge_key: \"\(key)\", until: 2001-01-01T00:00:00Z}]", ["key": .string(key)], false),
            ("[{badge_key: \"\(key)\", app: \"\(TestApp.first.id())\"}]", ["key": .string(key)], true),
            ("[{jti: abc}]", ["key": .string(key)], false),
        ] as [(String, JSON, Bool)])
    func facts(_ deny: String, _ body: JSON, _ isDenied: Bool) async throws {
        let found = try await exchange(Self.engine(deny: deny), body)
        #expect(found.reason == (isDenied ? KernelReasons.evidenceDenied : nil))
        #expect((found.token == nil) == isDenied)
    }

    @Test("The record says which entry it was, and why; rules are not asked")
    func record() async throws {
        let engine = try Self.engine(
            deny: "[{badge_key: \"\(Self.key)\", note: incident 42}]", app: "rules: [{name: all, then: mark}]")
        let reply = await engine.call("exchangeBadge", TestEngine.app, ["key": .string(Self.key)])
        let record = try #require(engine.record(of: reply))
        #expect(record.detail == "the deny list refuses it (test.yaml:1:8): incident 42")
        #expect(record.facts.contains(Fact(BadgeProvider.key, .text(Self.key))))
        #expect(record.rules.decided == nil)
    }

    @Test("A token that was issued before its key was denied is refused, and those of other keys are not")
    func issuedTokens() async throws {
        let engine = try Self.engine()
        let token = try #require(try await exchange(engine, ["key": .string(Self.key)]).token)
        let other = try #require(try await exchange(engine, ["key": .string(Self.otherKey)]).token)
        let keyless = try #require(try await exchange(engine, [:]).token)
        #expect(await verify(engine, token) == nil)
        let added = await engine.call(
            "createDenyEntry", Self.project,
            ["denyEntry": ["match": ["badge_key": .string(Self.key)], "note": "stolen"]], credentials: Self.denier)
        let name = try #require(try added.result.get()["name"]?.string)
        #expect(await verify(engine, token) == KernelReasons.tokenDenied)
        #expect(await verify(engine, other) == nil)
        #expect(await verify(engine, keyless) == nil)
        #expect(try await exchange(engine, ["key": .string(Self.key)]).reason == KernelReasons.evidenceDenied)
        let id = String(name.split(onASCII: "/").last ?? "")
        let removed = await engine.call(
            "deleteDenyEntry", Self.project, ["denyEntryId": .string(id)], credentials: Self.denier)
        #expect(throws: Never.self) { try removed.result.get() }
        #expect(await verify(engine, token) == nil)
        let events = engine.sink.events
        #expect(events.map(\.kind) == [.denyAdded, .denyRemoved])
        #expect(events.map(\.caller) == ["night", "night"])
        #expect(events.first?.details.first { $0.name.isExactly("note") }?.value == "stolen")
    }

    @Test("Tokens of one key have nothing in common")
    func unlinkable() async throws {
        let engine = try Self.engine()
        var identifiers: Set<ExactText> = []
        var bytes: Set<[UInt8]> = []
        for _ in 0..<64 {
            let reply = await engine.call("exchangeBadge", TestEngine.app, ["key": .string(Self.key)])
            guard case .issued(let id, _, _)? = engine.record(of: reply)?.outcome else { continue }
            identifiers.insert(ExactText(id))
            bytes.insert(Array((Base64.decodeURL(utf8: Array(id.utf8)[...]) ?? []).suffix(8)))
        }
        #expect(identifiers.count == 64)
        #expect(bytes.count == 64)
        #expect(identifiers.allSatisfy { $0.string.utf8.count == 43 })
    }

    @Test("A token is denied by its `jti`, for as long as the entry says")
    func tokenID() async throws {
        let engine = try Self.engine()
        let reply = await engine.call("exchangeBadge", TestEngine.app, [:])
        let token = try #require(try reply.result.get()["token"]?.string)
        guard case .issued(let id, _, _)? = engine.record(of: reply)?.outcome else {
            Issue.record("no token is on record")
            return
        }
        let end = engine.clock.now + .seconds(600)
        let added = await engine.call(
            "createDenyEntry", Self.project,
            ["denyEntry": ["match": ["jti": .string(id)], "expireTime": .string(end.textWithMilliseconds)]],
            credentials: Self.admin)
        #expect(throws: Never.self) { try added.result.get() }
        #expect(await verify(engine, token) == KernelReasons.tokenDenied)
        engine.clock.advance(by: .seconds(601))
        #expect(await verify(engine, token) == nil)
    }

    @Test("What another server added takes effect within two seconds, and stays while the store is away")
    func otherServers() async throws {
        let clock = ManualClock()
        let store = FailingStore(MemoryStore(clock: clock.hostClock))
        let keys = KeyStore.pooled()
        let hash = Hex.encode(SHA256.hash(Array(Self.denier.utf8)))
        let engines = try (0..<2).map { _ in
            try Engine(
                registry: Registry([.provider(BadgeProvider.self)], administration: .api),
                policies: .load([
                    PolicyFile(
                        name: "test.yaml",
                        text: "callers: {night: {sha256: \(hash), permissions: [denyList.manage]}}\n"
                            + TestEngine.policy(providers: "badge: {}"))
                ]), keys: keys, host: PluginHost(clock: clock.hostClock, store: store, logger: TestService.silent),
                sink: RecordingSink())
        }
        func reason(_ engine: Engine, _ key: String) async -> Reason? {
            let call = Call("exchangeBadge", resource: TestEngine.app, body: ["key": .string(key)])
            if case .failure(let failure) = await engine.handle(call).result { return failure.reason }
            return nil
        }
        #expect(await reason(engines[1], Self.key) == nil)
        let added = await engines[0].handle(
            Call(
                "createDenyEntry", resource: Self.project,
                body: ["denyEntry": ["match": ["badge_key": .string(Self.key)]]], credentials: BearerToken(Self.denier))
        )
        #expect(throws: Never.self) { try added.result.get() }
        #expect(await reason(engines[0], Self.key) == KernelReasons.evidenceDenied)
        clock.advance(by: .milliseconds(2001))
        #expect(await reason(engines[1], Self.key) == KernelReasons.evidenceDenied)
        store.isFailing = true
        clock.advance(by: .seconds(60))
        #expect(await reason(engines[1], Self.key) == KernelReasons.evidenceDenied)
        #expect(await reason(engines[1], Self.otherKey) == nil)
        store.isFailing = false
        clock.advance(by: .seconds(60))
        #expect(await reason(engines[1], Self.key) == KernelReasons.evidenceDenied)
    }

    @Test("Nothing is decided before the deny list of the store is known")
    func unknownList() async throws {
        let engine = try Self.engine()
        engine.store.isFailing = true
        let reply = await engine.call("exchangeBadge", TestEngine.app, [:])
        guard case .failure(let failure) = reply.result else {
            Issue.record("a token was issued")
            return
        }
        #expect(failure.status == .unavailable)
    }

    @Test(
        "A wrong entry is refused through the API, in words",
        arguments: [
            ([:], "the field 'match' is missing"),
            (
                ["match": [:]],
                "the field 'match' is wrong: an entry needs `jti` or a fact, such as `key_id`: otherwise it would refuse everything"
            ),
            (
                ["match": ["badge_kex": "x"]],
                "the field 'match.badge_kex' is wrong: no provider tells the fact `badge_kex`; did you mean `badge_key`?"
            ),
            (
                ["match": ["badge_key": "x"]],
                "the field 'match.badge_key' is wrong: `badge_key` is a digest of 16 to 128 characters in hexadecimal or Base 64"
            ),
            (
                ["match": ["bit0": ["below": true]]],
                "the field 'match.bit0.below' is wrong: `below` needs an order, and `bit0` is true or false"
            ),
            (
                ["match": ["jti": "a", "bit0": true]],
                "the field 'match.bit0' is wrong: an entry has either `jti` or facts, not both"
            ),
            (
                ["match": ["bit0": true, "note": "x"]],
                "the field 'match.note' is wrong: is no fact: it belongs beside `match`"
            ),
            (
                ["match": ["bit0": true], "app": "1:1:ios:ab"],
                "the field 'app' names an unknown app or OAuth client of this project"
            ),
            (["match": ["bit0": true], "expireTime": "2001-01-01T00:00:00Z"], "the field 'expireTime' is in the past"),
            (
                ["match": ["jti": .string(String(repeating: "a", count: 503))]],
                "the field 'match' has at most 512 bytes"
            ),
            (
                ["match": ["bit0": true], "expireTime": "tomorrow"],
                "the field 'expireTime' must be a time such as 2027-01-01T00:00:00Z"
            ),
            (
                ["match": ["bit0": true], "note": .string(String(repeating: "a", count: 201))],
                "the field 'note' has at most 200 bytes"
            ),
        ] as [(JSON, String)])
    func wrongEntries(_ entry: JSON, _ message: String) async throws {
        let engine = try Self.engine()
        let reply = await engine.call("createDenyEntry", Self.project, ["denyEntry": entry], credentials: Self.admin)
        guard case .failure(let failure) = reply.result else {
            Issue.record("the entry was taken")
            return
        }
        #expect(failure.status == .invalidArgument)
        #expect(failure.message == message)
        #expect(engine.sink.events.isEmpty)
    }

    @Test("A project cannot use up the entries of others")
    func projectLimit() async throws {
        let engine = try Self.engine()
        func add(_ index: Int) async -> CallFailure? {
            let reply = await engine.call(
                "createDenyEntry", Self.project, ["denyEntry": ["match": ["jti": .string("token-\(index)")]]],
                credentials: Self.denier)
            if case .failure(let failure) = reply.result { return failure }
            return nil
        }
        for index in 0..<500 { #expect(await add(index)?.message == nil) }
        let failure = await add(500)
        #expect(failure?.status == .resourceExhausted)
        #expect(failure?.message.contains("at most 500 entries") == true)
    }

    @Test("The list needs the permission, has pages, and is that of one project")
    func list() async throws {
        let engine = try Self.engine()
        for (credentials, status) in [(nil, StatusCode.unauthenticated), ("wrong-token-0123456789", .unauthenticated)]
            as [(String?, StatusCode)]
        {
            let reply = await engine.call("listDenyEntries", Self.project, [:], credentials: credentials)
            guard case .failure(let failure) = reply.result else {
                Issue.record("anybody reads the list")
                continue
            }
            #expect(failure.status == status)
        }
        for index in 0..<3 {
            let reply = await engine.call(
                "createDenyEntry", Self.project, ["denyEntry": ["match": ["jti": .string("token-\(index)")]]],
                credentials: Self.admin)
            #expect(throws: Never.self) { try reply.result.get() }
        }
        var seen: Set<ExactText> = []
        var body: JSON = ["pageSize": 2]
        for count in [2, 1] {
            let page = try await engine.call("listDenyEntries", Self.project, body, credentials: Self.denier).result
                .get()
            let entries = page["denyEntries"]?.array ?? []
            #expect(entries.count == count)
            for entry in entries {
                #expect(entry["creator"] == "root")
                seen.insert(ExactText(entry["match"]?["jti"]?.string ?? ""))
            }
            body = ["pageSize": 2, "pageToken": page["nextPageToken"] ?? ""]
        }
        #expect(seen == ["token-0", "token-1", "token-2"])
    }
}
