import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Testing

/// A provider with a fact of each type, which believes everything.
private struct GaugeProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        init(_ fields: RequestFields) throws(InvalidRequest) {}
    }

    static let facts: [FactName] = [
        FactName("gauge_text"), FactName("gauge_words", .words(["red", "green"])), FactName("gauge_count", .integer),
        FactName("gauge_bit", .bool), FactName("gauge_time", .instant), FactName("gauge_age", .duration),
        FactName("gauge_version", .version), FactName("gauge_key", .digest, identifiesAttester: true),
    ]

    static let descriptor = PluginDescriptor.provider(
        name: "gauge", summary: "Believes everything.", reasons: [], facts: facts)
    static let methods: [ProviderMethod<GaugeProvider>] = [
        .exchange("exchangeGauge") { (provider, request: Request, context) in .verified(Appraisal(facts: [])) }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

@Suite("The methods of the deny list")
struct DenyMethodTests {
    private static let admin = "admin-token-0123456789"
    private static let project = "projects/\(TestApp.first.projectID)"

    private static func engine(deny: String = "[]") throws -> TestEngine {
        let hash = Hex.encode(SHA256.hash(Array(admin.utf8)))
        return try TestEngine(
            [.provider(GaugeProvider.self)],
            policy: "deny: \(deny)\ncallers: {root: {sha256: \(hash), permissions: [admin]}}\n"
                + TestEngine.policy(providers: "gauge: {}"))
    }

    private static func failure(_ reply: Reply) -> CallFailure? {
        if case .failure(let failure) = reply.result { failure } else { nil }
    }

    private func add(_ engine: TestEngine, _ match: JSON) async -> CallFailure? {
        Self.failure(
            await engine.call(
                "createDenyEntry", Self.project, ["denyEntry": ["match": match]], credentials: Self.admin))
    }

    @Test(
        "A value has the type of its fact, and texts are strings of JSON: a number would lose its zeros",
        arguments: [
            ("gauge_text", "x", true), ("gauge_text", 5, false), ("gauge_text", true, false),
            ("gauge_text", .null, false), ("gauge_text", ["a", "b"], true), ("gauge_text", ["a", 5], false),
            ("gauge_text", ["not": "a"], true), ("gauge_text", ["not": 5], false),
            ("gauge_text", ["not_in": ["a", 5]], false), ("gauge_text", ["known": true], true),
            ("gauge_text", ["known": "true"], false), ("gauge_text", [["a"]], false),
            ("gauge_words", "red", true), ("gauge_words", "blue", false), ("gauge_words", 1, false),
            ("gauge_version", "1.10", true), ("gauge_version", .number(1.1), false), ("gauge_version", 17, false),
            ("gauge_version", ["below": "1.3"], true), ("gauge_version", ["below": .number(1.3)], false),
            ("gauge_count", 5, true), ("gauge_count", "5", false), ("gauge_count", .number(5.5), false),
            ("gauge_count", true, false), ("gauge_count", ["above": 3], true), ("gauge_count", ["above": "3"], false),
            ("gauge_bit", true, true), ("gauge_bit", "true", false), ("gauge_bit", 1, false),
            ("gauge_time", "2026-11-24T08:15:00Z", true), ("gauge_time", 1_795_262_400, false),
            ("gauge_time", ["below": "2026-11-24T08:15:00Z"], true), ("gauge_time", "yesterday", false),
            ("gauge_age", "60s", true), ("gauge_age", 60, false), ("gauge_age", "60", false),
            ("gauge_key", .string(String(repeating: "ab", count: 32)), true), ("gauge_key", 1_234_567_890, false),
            ("provider", "gauge", true), ("provider", 5, false), ("provider", "gouge", false),
            ("jti", "abc", true), ("jti", 5, false), ("jti", ["a"], false), ("jti", .null, false), ("jti", "", false),
        ] as [(String, JSON, Bool)])
    func types(_ name: String, _ value: JSON, _ isTaken: Bool) async throws {
        let engine = try Self.engine()
        let failure = await add(engine, .object([JSONMember(name, value)]))
        #expect((failure == nil) == isTaken, "\(failure?.message ?? "taken")")
        if let failure {
            #expect(failure.status == .invalidArgument)
            #expect(failure.message.hasPrefix("the field 'match"), "\(failure.message)")
        }
    }

    @Test("The message says what is expected")
    func words() async throws {
        let engine = try Self.engine()
        #expect(
            await add(engine, ["gauge_version": .number(1.1)])?.message
                == "the field 'match.gauge_version' is wrong: write the value as a string, because `gauge_version` is a version such as 26.2"
        )
        #expect(
            await add(engine, ["jti": 5])?.message == "the field 'match.jti' is wrong: write the value as a string")
    }

    @Test("All known facts are listed for a fact that resembles none, however many there are")
    func unknownFact() async throws {
        let message = try #require(await add(try Self.engine(), ["nonsense_without_likeness": "x"])?.message)
        for fact in GaugeProvider.facts { #expect(message.contains("`\(fact.text)`"), "\(message)") }
        #expect(message.contains("`provider`"))
        #expect(!message.contains("..."))
    }

    @Test(
        "An unknown field of a request is refused: a misspelled end would be none",
        arguments: [
            (
                ["denyEntry": ["match": ["jti": "a"], "expiryTime": "2099-01-01T00:00:00Z"]],
                "unknown field 'denyEntry.expiryTime'; did"
            ),
            (["denyEntry": ["match": ["jti": "a"], "until": "x"]], "unknown field 'denyEntry.until'; known here: "),
            (
                ["denyEntry": ["match": ["jti": "a"]], "validateOnly": true],
                "unknown field 'validateOnly'; known here: `denyEntry`"
            ),
        ] as [(JSON, String)])
    func unknownFields(_ body: JSON, _ message: String) async throws {
        let engine = try Self.engine()
        let failure = Self.failure(
            await engine.call("createDenyEntry", Self.project, body, credentials: Self.admin))
        #expect(failure?.status == .invalidArgument)
        #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
        let list = try await engine.call("listDenyEntries", Self.project, [:], credentials: Self.admin).result.get()
        #expect(list["denyEntries"] == nil)
    }

    @Test("Entries may be written in snake_case, which proto3 accepts")
    func snakeCase() async throws {
        let engine = try Self.engine()
        let reply = await engine.call(
            "createDenyEntry", Self.project,
            ["deny_entry": ["match": ["jti": "a"], "expire_time": "2099-01-01T00:00:00Z"]], credentials: Self.admin)
        #expect(try reply.result.get()["expireTime"] == "2099-01-01T00:00:00.000Z")
    }

    @Test("A removal says what is unknown: the project or the entry; a second removal finds nothing")
    func removal() async throws {
        let engine = try Self.engine()
        let added = await engine.call(
            "createDenyEntry", Self.project, ["denyEntry": ["match": ["jti": "a"]]], credentials: Self.admin)
        let name = try #require(try added.result.get()["name"]?.string)
        let id = String(name.split(onASCII: "/").last ?? "")
        func remove(_ id: String, _ project: String) async -> CallFailure? {
            Self.failure(
                await engine.call("deleteDenyEntry", project, ["denyEntryId": .string(id)], credentials: Self.admin))
        }
        let noProject = "The policies of this server have no such project, app or OAuth client."
        let noEntry = "The deny list of the project has no such entry."
        #expect(await remove(id, "projects/unknown-project")?.message == noProject)
        for other in [id.uppercased(), id + "0", String(id.dropLast()), "%2e", String(repeating: "x", count: 5000)] {
            let failure = await remove(other, Self.project)
            #expect(failure?.status == .notFound)
            #expect(failure?.message == noEntry)
        }
        #expect(await remove("", Self.project)?.status == .invalidArgument)
        #expect(await remove(id, Self.project) == nil)
        #expect(await remove(id, Self.project)?.message == noEntry)
    }

    @Test("A list says how many entries of the policies are in force for the project")
    func policyEntries() async throws {
        let app = TestApp.first.id()
        for (deny, count) in [
            ("[]", nil), ("[{jti: a}]", 1), ("[{jti: a}, {gauge_bit: true}]", 2),
            ("[{jti: a, until: 2001-01-01T00:00:00Z}, {jti: b}]", 1), ("[{jti: a, app: \"\(app)\"}]", 1),
        ] as [(String, JSON?)] {
            let engine = try Self.engine(deny: deny)
            let list = try await engine.call("listDenyEntries", Self.project, [:], credentials: Self.admin).result.get()
            #expect(list["policyEntryCount"] == count, "\(deny)")
        }
    }

    @Test("An operator of another project refuses only what is its own, and neither lists nor removes other entries")
    func projects() async throws {
        let (bound, foreign) = ("bound-token-0123456789", TestApp.foreign)
        let hashes = [Self.admin, bound].map { Hex.encode(SHA256.hash(Array($0.utf8))) }
        let policy = """
            callers:
              root: {sha256: \(hashes[0]), permissions: [admin]}
              bound: {sha256: \(hashes[1]), permissions: [denyList.manage], projects: [\(foreign.projectID)]}

            """ + TestEngine.policy(providers: "gauge: {}") + """

                  - number: \(foreign.projectNumber)
                    id: \(foreign.projectID)
                    apps: [{id: "\(foreign.id())", providers: {gauge: {}}}]
                """
        let engine = try TestEngine([.provider(GaugeProvider.self)], policy: policy)
        func deny(_ app: TestApp, _ entry: JSON, as token: String) async -> Reply {
            await engine.call(
                "createDenyEntry", "projects/\(app.projectID)", ["denyEntry": entry], credentials: token)
        }
        func isRefused(_ app: TestApp) async -> Bool {
            Self.failure(await engine.call("exchangeGauge", app.resource()))?.reason == KernelReasons.evidenceDenied
        }
        let all: JSON = ["match": ["provider": "gauge"]]
        #expect(Self.failure(await deny(.first, all, as: bound))?.status == .permissionDenied)
        #expect(Self.failure(await deny(foreign, all, as: bound)) == nil)
        #expect(await isRefused(foreign))
        #expect(await !isRefused(.first))
        let ofOther: JSON = ["match": ["provider": "gauge"], "app": .string(TestApp.first.id())]
        #expect(Self.failure(await deny(foreign, ofOther, as: bound))?.status == .invalidArgument)

        let name = try #require(try await deny(.first, all, as: Self.admin).result.get()["name"]?.string)
        #expect(await isRefused(.first))
        let id = JSON.string(String(name.split(onASCII: "/").last ?? ""))
        for (method, project, body, status) in [
            ("listDenyEntries", TestApp.first, [:], .permissionDenied),
            ("deleteDenyEntry", .first, ["denyEntryId": id], .permissionDenied),
            ("deleteDenyEntry", foreign, ["denyEntryId": id], .notFound),
        ] as [(String, TestApp, JSON, StatusCode)] {
            let reply = await engine.call(method, "projects/\(project.projectID)", body, credentials: bound)
            #expect(Self.failure(reply)?.status == status, "\(method)")
        }
        #expect(await isRefused(.first))
        let list = try await engine.call(
            "listDenyEntries", "projects/\(foreign.projectID)", credentials: bound
        ).result.get()
        #expect(list["denyEntries"]?.array?.count == 1)
    }

    @Test(
        "A page token that the service did not make is refused; pages continue after their last entry",
        arguments: [("x", true), ("=", true), ("%", true), ("_w", true), ("", false)])
    func pageTokens(_ token: String, _ isRefused: Bool) async throws {
        let reply = try await Self.engine().call(
            "listDenyEntries", Self.project, ["pageToken": .string(token)], credentials: Self.admin)
        #expect((Self.failure(reply)?.status == .invalidArgument) == isRefused)
    }
}

@Suite("The deny list in the state store")
struct StoredDenialsTests {
    private static let admin = "admin-token-0123456789"
    private static let project = "projects/\(TestApp.first.projectID)"

    private static func engine(_ clock: ManualClock, _ store: any StateStore) throws -> Engine {
        let hash = Hex.encode(SHA256.hash(Array(admin.utf8)))
        return try Engine(
            registry: Registry([.provider(GaugeProvider.self)], administration: .api),
            policies: .load([
                PolicyFile(
                    name: "test.yaml",
                    text: "callers: {root: {sha256: \(hash), permissions: [admin]}}\n"
                        + TestEngine.policy(providers: "gauge: {}"))
            ]), keys: .pooled(),
            host: PluginHost(clock: clock.hostClock, store: store, logger: TestService.silent), sink: RecordingSink())
    }

    private func call(_ engine: Engine, _ method: String, _ body: JSON) async -> Reply {
        await engine.handle(
            Call(method, resource: Self.project, body: body, credentials: BearerToken(Self.admin)))
    }

    @Test("An entry that ended is listed for a day, and its place is free after the next change")
    func memory() async throws {
        let clock = ManualClock()
        let engine = try Self.engine(clock, MemoryStore(clock: clock.hostClock))
        let end = clock.hostClock.now + .seconds(60)
        let added = await call(
            engine, "createDenyEntry",
            ["denyEntry": ["match": ["jti": "a"], "expireTime": .string(end.description)]])
        #expect(throws: Never.self) { try added.result.get() }
        for (wait, count) in [(61, 1), (86_000, 1), (1000, 0)] {
            clock.advance(by: .seconds(wait))
            let other = try await call(engine, "createDenyEntry", ["denyEntry": ["match": ["jti": "b"]]]).result.get()
            let list = try await call(engine, "listDenyEntries", [:]).result.get()["denyEntries"]?.array ?? []
            #expect(list.filter { $0["match"]?["jti"] == "a" }.count == count, "\(wait)")
            let id = String((other["name"]?.string ?? "").split(onASCII: "/").last ?? "")
            _ = await call(engine, "deleteDenyEntry", ["denyEntryId": .string(id)])
        }
    }

    @Test("While the store cannot be written or read, changes and lists are unavailable, and nothing is half done")
    func failingStore() async throws {
        let clock = ManualClock()
        let store = FailingStore(MemoryStore(clock: clock.hostClock))
        let engine = try Self.engine(clock, store)
        // The first request knows the deny list; after that, only the store of the change fails.
        _ = await call(engine, "listDenyEntries", [:])
        store.isFailing = true
        for (method, body) in [
            ("createDenyEntry", ["denyEntry": ["match": ["jti": "a"]]]), ("deleteDenyEntry", ["denyEntryId": "x"]),
            ("listDenyEntries", [:]),
        ] as [(String, JSON)] {
            guard case .failure(let failure) = await call(engine, method, body).result else {
                Issue.record("\(method) was answered")
                continue
            }
            #expect(failure.status == .unavailable, "\(method)")
        }
        store.isFailing = false
        #expect(try await call(engine, "listDenyEntries", [:]).result.get()["denyEntries"] == nil)
    }

    @Test("Repeated names in an entry are refused, because two readers could take different values")
    func repeatedNames() async throws {
        let clock = ManualClock()
        let engine = try Self.engine(clock, MemoryStore(clock: clock.hostClock))
        let matches: [JSON] = [
            .object([JSONMember("jti", "a"), JSONMember("jti", "b")]),
            .object([JSONMember("gauge_bit", true), JSONMember("gauge_bit", true)]),
            ["gauge_count": .object([JSONMember("above", 1), JSONMember("above", 2)])],
        ]
        for match in matches {
            let reply = await call(engine, "createDenyEntry", ["denyEntry": ["match": match]])
            guard case .failure(let failure) = reply.result else {
                Issue.record("\(match) was taken")
                continue
            }
            #expect(failure.status == .invalidArgument)
        }
        #expect(try await call(engine, "listDenyEntries", [:]).result.get()["denyEntries"] == nil)
    }

    @Test("Changes at the same time are all kept")
    func concurrent() async throws {
        let clock = ManualClock()
        let store = MemoryStore(clock: clock.hostClock)
        let engine = try Self.engine(clock, store)
        let names = await withTaskGroup(of: String?.self) { group in
            for number in 0..<12 {
                group.addTask {
                    let body: JSON = ["denyEntry": ["match": ["jti": .string("token-\(number)")]]]
                    return try? await call(engine, "createDenyEntry", body).result.get()["name"]?.string
                }
            }
            return await group.reduce(into: []) { $0 += [$1].compactMap(\.self) }
        }
        let list = try await call(engine, "listDenyEntries", [:]).result.get()["denyEntries"]?.array ?? []
        #expect(list.count == names.count)
        #expect(Set(list.compactMap { $0["name"]?.string }.map { ExactText($0) }) == Set(names.map { ExactText($0) }))
        #expect(!names.isEmpty)
    }
}
