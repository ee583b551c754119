import AssayCore
import AssayCrypto
import AssayEngine
import AssayKit
import AssayPolicy
import AssayServices
import AssayTesting
import Synchronization
import Testing

/// A provider whose evidence says one text and one number.
private struct LabelProvider: AttestationProvider {
    struct Configuration: Decodable, Sendable {}

    struct Request: RequestMessage {
        let label: String

        init(_ fields: RequestFields) throws(InvalidRequest) {
            label = try fields.optionalString("label") ?? ""
        }
    }

    static let descriptor = PluginDescriptor.provider(
        name: "label", summary: "Believes everything.", reasons: [],
        facts: [FactName("label"), FactName("label_size", .integer)])
    static let methods: [ProviderMethod<LabelProvider>] = [
        .exchange("exchangeLabel") { (provider, request: Request, context) in
            .verified(
                Appraisal(facts: [
                    Fact("label", .text(request.label)),
                    Fact(FactName("label_size", .integer), .integer(Int64(request.label.utf8.count))),
                ]))
        }
    ]

    init(_ configuration: Configuration, app: AppIdentity, host: PluginHost) throws(ConfigurationError) {}
}

/// A store that counts how often the deny list is read.
private final class CountingStore: StateStore {
    private let store: any StateStore
    private let counted = Mutex(0)

    init(_ store: any StateStore) {
        self.store = store
    }

    var reads: Int { counted.withLock { $0 } }
    var neverBlocks: Bool { true }

    private let isSilent = Mutex(false)

    /// The deny list is not read any more, until its reader is cancelled.
    func silence() { isSilent.withLock { $0 = true } }

    func commit(_ changes: [StateChange]) async throws -> Int? { try await store.commit(changes) }

    func get(_ key: StateKey) async throws -> [UInt8]? { try await store.get(key) }

    func put(_ key: StateKey, value: [UInt8]?, expires: Instant?) async throws {
        try await store.put(key, value: value, expires: expires)
    }

    func list(_ space: String, after name: String?, limit: Int) async throws -> [StateEntry] {
        if space.isExactly("denials/all") {
            counted.withLock { $0 += 1 }
            if isSilent.withLock({ $0 }) { try await Task.sleep(for: .seconds(3600)) }
        }
        return try await store.list(space, after: name, limit: limit)
    }
}

/// What is in the store may come from another version, from another program, or from a damaged disk.
@Suite("The deny list of the state store, as a server knows it")
struct LiveDenialsTests {
    private let clock = ManualClock()
    private let store: CountingStore
    private let engine: Engine

    init() throws {
        store = CountingStore(MemoryStore(clock: clock.hostClock))
        engine = try Engine(
            registry: Registry([.provider(LabelProvider.self)], administration: .api),
            policies: .load([
                PolicyFile(
                    name: "test.yaml",
                    text: "callers: {root: {sha256: \(Hex.encode(SHA256.hash(Array(Self.admin.utf8)))), "
                        + "permissions: [admin]}}\n" + TestEngine.policy(providers: "label: {}"))
            ]),
            keys: .pooled(),
            host: PluginHost(clock: clock.hostClock, store: store, logger: TestService.silent), sink: RecordingSink())
    }

    private static let admin = "admin-token-0123456789"
    private static let number = "\(TestApp.first.projectNumber)"

    private static func entry(
        _ id: String, _ match: JSON, project: String = number, app: String? = nil, until: Int64? = nil
    ) -> JSON {
        var members = [
            JSONMember("id", .string(id)), JSONMember("project", .string(project)), JSONMember("match", match),
            JSONMember("created", 1), JSONMember("creator", "root"),
        ]
        if let app { members.append(JSONMember("app", .string(app))) }
        if let until { members.append(JSONMember("until", .integer(until))) }
        return .object(members)
    }

    private static func document(_ entries: [JSON]) -> [UInt8] {
        (["version": 1, "entries": .array(entries)] as JSON).encoded
    }

    /// Writes the deny list as another program would.
    private func write(_ bytes: [UInt8], version: UInt64 = 1) async throws {
        let name = Hex.encode((UInt64.max - version).bigEndianBytes)
        #expect(try await store.insert(StateKey("denials/all", name), value: bytes, expires: nil))
    }

    /// How an exchange ends: `issued`, the code of the reason, or the status.
    private func exchange(_ label: String = "x") async -> String {
        let reply = await engine.handle(
            Call("exchangeLabel", resource: TestEngine.app, body: ["label": .string(label)]))
        guard case .failure(let failure) = reply.result else { return "issued" }
        return failure.reason?.code ?? failure.status.rawValue
    }

    @Test(
        "A list that cannot be read is not taken for an empty one: nothing is decided before one could be read",
        arguments: [
            "", "{", "[]", "{}", "null", #"{"version":2,"entries":[]}"#, #"{"version":1}"#,
            #"{"version":1,"entries":{}}"#, #"{"version":1,"entries":[1]}"#, #"{"version":1,"entries":[{}]}"#,
            #"{"version":1,"entries":[{"id":"a","project":"1","match":{},"creator":"c"}]}"#,
            #"{"version":1,"entries":[{"id":"a","project":1,"match":{},"created":1,"creator":"c"}]}"#,
            #"{"version":1,"version":1,"entries":[]}"#, #"{"version":1,"entries":[]} x"#,
            #"{"version":1,"entries":[[[[[[[[[[]]]]]]]]]]}"#, "\u{0}\u{1}",
        ])
    func damaged(_ text: String) async throws {
        try await write(Array(text.utf8))
        #expect(await exchange() == "UNAVAILABLE")
        clock.advance(by: .seconds(3))
        #expect(await exchange() == "UNAVAILABLE")
    }

    @Test("A list that is damaged later leaves the known entries in force, until a whole one is there")
    func damagedLater() async throws {
        try await write(Self.document([Self.entry("a", ["label": "bad"])]))
        #expect(await exchange("bad") == "evidence_denied")
        try await write([0xFF, 0xFE], version: 2)
        clock.advance(by: .seconds(3))
        #expect(await exchange("bad") == "evidence_denied")
        #expect(await exchange("good") == "issued")
        #expect(await caution()?.contains("the deny list cannot be read") == true)
        try await write(Self.document([Self.entry("b", ["label": "good"])]), version: 3)
        clock.advance(by: .seconds(3))
        #expect(await exchange("bad") == "issued")
        #expect(await exchange("good") == "evidence_denied")
    }

    @Test(
        "An entry about facts that no provider tells refuses nothing, the others stay in force, and the readiness says so",
        arguments: [
            ["fact_of_another_plugin": "x"], ["fact_of_another_plugin": "x", "label": "x"],
        ] as [JSON])
    func foreignEntries(_ match: JSON) async throws {
        try await write(Self.document([Self.entry("a", match), Self.entry("b", ["label": "bad"])]))
        #expect(await exchange("x") == "issued")
        #expect(await exchange("bad") == "evidence_denied")
        #expect(await caution()?.contains("denyEntries/a") == true)
    }

    @Test(
        "An entry that cannot be read blocks the apps that it may be about, and the readiness names it until it is replaced",
        arguments: [
            [:], ["label": [:]], ["label": []], ["label_size": "many"], ["label": ["unheard_of": "x"]], ["note": "x"],
            ["jti": "a", "label": "x"], "text", .null, ["label": ["below": "x"]],
        ] as [JSON])
    func unreadableEntries(_ match: JSON) async throws {
        try await write(Self.document([Self.entry("a", match), Self.entry("b", ["label": "bad"])]))
        #expect(await exchange("x") == "UNAVAILABLE")
        #expect(await verify() == "token_denied")
        #expect(await caution()?.contains("denyEntries/a") == true)
        for (version, other) in [
            Self.entry("a", match, project: "99"), Self.entry("a", match, app: TestApp.second.id()),
            Self.entry("a", match, until: 0), Self.entry("a", ["label": "other"]),
        ].enumerated() {
            try await write(Self.document([other]), version: UInt64(version) + 2)
            clock.advance(by: .seconds(3))
            #expect(await exchange("x") == "issued")
            #expect(await verify() == "valid")
        }
        #expect(await engine.readiness == .ready)
    }

    @Test(
        "An entry for a token that cannot be read blocks the tokens of the apps that it may be about, and not their evidence"
    )
    func unreadableTokens() async throws {
        try await write(Self.document([Self.entry("a", ["jti": ""])]))
        #expect(await exchange("x") == "issued")
        #expect(await verify() == "token_denied")
        #expect(await caution()?.contains("denyEntries/a") == true)
    }

    /// What a backend is told of a new token: `valid`, or the code of the reason.
    private func verify() async -> String {
        let admin = BearerToken(Self.admin)
        let minted = await engine.handle(
            Call("mintAppCheckToken", resource: TestEngine.app, body: [:], credentials: admin))
        guard case .success(let message) = minted.result, let token = message["token"] else { return "\(minted)" }
        let reply = await engine.handle(
            Call(
                "verifyAppCheckToken", resource: "projects/\(TestApp.first.projectID)",
                body: ["appCheckToken": token], credentials: admin))
        guard case .failure(let failure) = reply.result else { return "valid" }
        return failure.reason?.code ?? failure.status.rawValue
    }

    /// Why the engine is degraded; nil when it is not.
    private func caution() async -> String? {
        if case .degraded(let reason) = await engine.readiness { reason } else { nil }
    }

    @Test(
        "An entry holds for its project and its app until its end",
        arguments: [
            (entry("a", ["label": "x"]), true), (entry("a", ["label": "x"], project: "99"), false),
            (entry("a", ["label": "x"], project: ""), false),
            (entry("a", ["label": "x"], app: TestApp.first.id()), true),
            (entry("a", ["label": "x"], app: TestApp.second.id()), false),
            (entry("a", ["label": "x"], app: ""), false), (entry("a", ["label": "x"], until: .max), true),
            (entry("a", ["label": "x"], until: .min), false), (entry("a", ["label": "x"], until: 0), false),
            (entry("a", ["label_size": ["above": 0]]), true), (entry("a", ["label_size": ["above": 1]]), false),
            (entry("a", ["label": ["not": "y"]]), true), (entry("a", ["label": "x", "label_size": 1]), true),
            (entry("a", ["label": "x", "label_size": 2]), false),
        ] as [(JSON, Bool)])
    func scope(_ entry: JSON, _ isDenied: Bool) async throws {
        try await write(Self.document([entry]))
        #expect(await exchange("x") == (isDenied ? "evidence_denied" : "issued"))
    }

    @Test("The list is read once in two seconds, however many requests come, and only while they come")
    func interval() async throws {
        try await write(Self.document([Self.entry("a", ["label": "bad"])]))
        for _ in 0..<50 { _ = await exchange() }
        #expect(store.reads == 1)
        clock.advance(by: .milliseconds(1999))
        _ = await exchange()
        #expect(store.reads == 1)
        clock.advance(by: .milliseconds(1))
        for _ in 0..<50 { _ = await exchange() }
        #expect(store.reads == 2)
        clock.advance(by: .seconds(3600))
        #expect(store.reads == 2)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 { group.addTask { #expect(await exchange("bad") == "evidence_denied") } }
        }
        #expect(store.reads == 3)
    }

    @Test(
        "Where the list is read beside the requests, none of them reads it, and none waits for a store that is silent")
    func beside() async throws {
        try await write(Self.document([Self.entry("a", ["label": "bad"])]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { [engine] in await engine.runRefresh() }
            await clock.waitForSleepers(1)
            #expect(store.reads == 1)
            try await write(Self.document([Self.entry("b", ["label": "good"])]), version: 2)
            #expect(await exchange("bad") == "evidence_denied")
            #expect(store.reads == 1)
            clock.advance(by: .seconds(2))
            await clock.waitForSleepers(1)
            #expect(store.reads == 2)
            #expect(await exchange("bad") == "issued")
            #expect(await exchange("good") == "evidence_denied")
            #expect(store.reads == 2)
            // Now reading hangs, and requests that need no store are answered.
            store.silence()
            clock.advance(by: .seconds(2))
            await clock.waitForSleepers(1)
            #expect(await exchange("good") == "evidence_denied")
            #expect(await exchange("bad") == "issued")
        }
    }

    @Test("A thousand entries with comparisons and lists are all in force")
    func many() async throws {
        let entries = (0..<1000).map { number in
            Self.entry(
                "\(number)",
                number % 2 == 0
                    ? ["label": ["in": [.string("first\(number)"), .string("second\(number)")]]]
                    : ["label": .string("only\(number)"), "label_size": ["above": 3]])
        }
        try await write(Self.document(entries))
        for label in ["first0", "second998", "only1", "only999"] {
            #expect(await exchange(label) == "evidence_denied", "\(label)")
        }
        for label in ["first1", "only0", "second1000", ""] { #expect(await exchange(label) == "issued", "\(label)") }
    }

    @Test(
        "As many entries as one project may have, each with as many values as fit, can be read and changed, and are in force"
    )
    func large() async throws {
        let numbers = JSON.array((0..<240).map { .integer($0 == 0 ? 3 : 9) })
        try await write(Self.document((0..<499).map { Self.entry("\($0)", ["label_size": numbers]) }))
        #expect(await exchange("abc") == "evidence_denied")
        #expect(await exchange("a") == "issued")
        func call(_ method: String, _ body: JSON) async -> Reply {
            await engine.handle(
                Call(
                    method, resource: "projects/\(TestApp.first.projectID)", body: body,
                    credentials: BearerToken(Self.admin)))
        }
        let added = await call("createDenyEntry", ["denyEntry": ["match": ["label": "a"]]])
        #expect(throws: Never.self) { try added.result.get() }
        #expect(await exchange("abc") == "evidence_denied")
        #expect(await exchange("a") == "evidence_denied")
        guard case .failure(let full) = await call("createDenyEntry", ["denyEntry": ["match": ["label": "b"]]]).result
        else {
            Issue.record("a project has more entries than it may have")
            return
        }
        #expect(full.status == .resourceExhausted)
        let list = try await call("listDenyEntries", ["pageSize": 7]).result.get()
        #expect(list["denyEntries"]?.array?.count == 7)
    }
}
