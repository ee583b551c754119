import AssayCore
import AssayCrypto
import AssayDebug
import AssayKit
import AssayPolicy
import AssayTesting
import Testing

@testable import AssayEngine
@testable import AssayServices

@Suite("Keys of several servers over one state store")
struct KeyClusterTests {
    @Test("Servers that start at the same time make one set of keys, and accept each other's tokens")
    func firstStart() async throws {
        for _ in 0..<5 {
            let cluster = Cluster()
            let nodes = try await withThrowingTaskGroup(of: Cluster.Node.self) { group in
                for _ in 0..<3 { group.addTask { try await cluster.start() } }
                return try await group.reduce(into: [Cluster.Node]()) { $0.append($1) }
            }
            var sets: [Set<String>] = []
            for node in nodes {
                await node.follow()
                sets.append(try #require(await node.published()))
                let token = try #require(await node.token())
                #expect(sets[0].contains(token))
            }
            #expect(sets.allSatisfy { $0 == sets[0] && $0.count == 1 }, "\(sets)")
        }
    }

    @Test("A change by one server is loaded by the others when they ask the next time")
    func following() async throws {
        let cluster = Cluster()
        let nodes = [try await cluster.start(), try await cluster.start(), try await cluster.start()]
        let made = try await cluster.prepare(on: nodes[2])
        for node in nodes {
            await node.follow()
            #expect(await node.published()?.contains(made) == true)
            #expect(await node.token() != made)
        }
        cluster.clock.advance(by: KeyStore.signingLead)
        for node in nodes {
            await node.follow()
            #expect(await node.token() == made)
        }
    }

    @Test("The lead is longer than a key set is kept, and than it takes to publish the key on every server")
    func lead() {
        let slowest = KeyAging.backendCacheTime + KeyAging.publicationLimit
        #expect(KeyStore.signingLead >= slowest + .seconds(2 * 5))
        // A server that hears nothing signs for less time than the reserve of the publication of a retired key.
        #expect(KeyAging.signingLimit + .seconds(7 * 86_400) < KeyRing.publication)
    }

    @Test("A server whose vault does not answer publishes and verifies on, begins with no key, and ends signing")
    func silence() async throws {
        let cluster = Cluster()
        let (node, other) = (try await cluster.start(), try await cluster.start())
        let first = try #require(await node.token())
        let pending = try await cluster.prepare(on: other)
        await node.follow()
        cluster.clock.advance(by: KeyStore.signingLead - KeyAging.publicationLimit - .seconds(300))
        await node.follow()
        await other.follow()

        node.vault.isFailing = true
        cluster.clock.advance(by: KeyAging.publicationLimit)
        await node.follow()
        #expect(node.keys.readiness != .ready)
        #expect(await node.published()?.contains(pending) == true)
        cluster.clock.advance(by: .seconds(400))
        await node.follow()
        await other.follow()
        #expect(await node.published()?.contains(pending) == true)
        #expect(await node.keySetLifetime() == .seconds(60), "it may lack a key: backends ask again soon")
        #expect(await other.keySetLifetime() == .seconds(3600))
        guard case .degraded(let warning) = await node.engine.readiness else {
            Issue.record("it does not say so")
            return
        }
        #expect(warning.contains("the key vault has not answered for 66 minutes"))
        #expect(await node.token() == first, "the pending key may have been revoked")
        #expect(await other.token() == pending)
        #expect(await other.published()?.contains(first) == true)

        let token = try #require(await node.wholeToken())
        cluster.clock.advance(by: KeyAging.signingLimit - KeyAging.publicationLimit - .seconds(400))
        #expect(await node.token() == first)
        cluster.clock.advance(by: .seconds(1))
        #expect(await node.token() == nil)
        let reply = await node.exchange()
        #expect(reply.status == .unavailable)
        guard case .notReady(let reason) = await node.engine.readiness else {
            Issue.record("it is ready")
            return
        }
        #expect(reason.contains("the key vault has not answered for 360 minutes"))

        // However long it lasts: the key set is served, and its tokens are verified.
        let latest = try #require(await other.wholeToken())
        for _ in 0..<3 {
            #expect(await node.verification(of: latest) == nil)
            #expect(await node.published()?.isSuperset(of: [first, pending]) == true)
            cluster.clock.advance(by: .seconds(900))
            await node.follow()
        }
        cluster.clock.advance(by: .seconds(5 * 86_400))
        #expect(await node.verification(of: token) == .unauthenticated, "it has expired")
        cluster.clock.advance(by: .seconds(60 * 86_400))
        #expect(await node.published() == [pending], "the first key has left, as it was due")

        node.vault.isFailing = false
        await node.follow()
        #expect(await node.token() == pending)
        #expect(await node.keySetLifetime() == .seconds(3600))
        #expect(node.keys.readiness == .ready)
    }

    @Test("While the vault does not answer, a token by a key that is unknown here is not refused but unavailable")
    func unknownSigningKey() async throws {
        let cluster = Cluster()
        let (node, other) = (try await cluster.start(), try await cluster.start())
        // With its first decision it compares its keys with those that the state was used with.
        #expect(await node.token() != nil)
        node.vault.isFailing = true
        _ = try await cluster.prepare(on: other)
        cluster.clock.advance(by: KeyStore.signingLead)
        await node.follow()
        await other.follow()
        let token = try #require(await other.wholeToken())
        #expect(await other.verification(of: token) == nil)
        #expect(await node.verification(of: token) == .unavailable)
        // What is wrong in another way is refused.
        #expect(await node.verification(of: "a.b.c") == .unauthenticated)
        node.vault.isFailing = false
        await node.follow()
        #expect(await node.verification(of: token) == nil)
        var parts = token.split(separator: ".").map(String.init)
        parts[0] = Base64.encodeURL(Array(#"{"alg":"ES256","typ":"JWT","kid":"nobody"}"#.utf8))
        #expect(await node.verification(of: parts.joined(separator: ".")) == .unauthenticated)
    }

    @Test("A key set is handed out for an hour after the last answer, by the server and by caches together")
    func lifetimes() {
        func lifetime(_ age: Duration?) -> Duration { KeyFreshness(age: age).cacheLifetime }
        #expect(lifetime(nil) == .seconds(3600))
        for age in [0, 5, 60] { #expect(lifetime(.seconds(age)) == .seconds(3600)) }
        for age in [61, 1800, 3539] { #expect(lifetime(.seconds(age)) == .seconds(3600 - age)) }
        for age in [3541, 3600, 86_400, 86_400 * 365] { #expect(lifetime(.seconds(age)) == .seconds(60)) }
    }

    @Test("While the vault does not answer, what an unknown sealing key has sealed is not refused but unavailable")
    func unknownSealingKey() async throws {
        let cluster = Cluster()
        let node = try await cluster.start()
        let unknown: [UInt8] = [1, 2, 3, 4]
        let live = node.engine.gate.live
        #expect(try await live.keys(toKnow: unknown, beyond: live.snapshot.keys) == nil)
        node.vault.isFailing = true
        cluster.clock.advance(by: .seconds(61))
        await node.follow()
        await #expect(throws: KeyError.self) { try await live.keys(toKnow: unknown, beyond: live.snapshot.keys) }
        node.vault.isFailing = false
        await node.follow()
        #expect(try await live.keys(toKnow: unknown, beyond: live.snapshot.keys) == nil)
    }

    @Test("A state whose keys were set back is not started with, and a server that runs keeps what it has")
    func restored() async throws {
        let cluster = Cluster()
        let node = try await cluster.start()
        let old = try await cluster.store.list("keyvault/document", after: nil, limit: 1)[0]
        let now = cluster.clock.now
        let sealing = try await node.keys.store.perform { (keys) throws(KeyError) in
            try keys.prepareSealingKey(now: now).id
        }
        await node.follow()
        // The state remembers the key with the next decision.
        #expect(await node.token() != nil)
        let newest = try await cluster.store.list("keyvault/document", after: nil, limit: 1)[0]
        try await cluster.store.put(StateKey("keyvault/document", newest.name), value: nil, expires: nil)
        try await cluster.store.put(StateKey("keyvault/document", old.name), value: old.value, expires: nil)

        let error = await #expect(throws: KeyError.self) { try await cluster.start() }
        #expect(error?.message.contains("keys are lost") == true)
        #expect(error?.message.contains(sealing) == true)
        await node.follow()
        #expect(node.keys.readiness != .ready)
        #expect(await node.token() != nil)
        cluster.clock.advance(by: KeyAging.signingLimit + .seconds(1))
        await node.follow()
        #expect(await node.token() == nil, "its keys are not those of the vault")

        // The whole document is gone.
        try await cluster.store.put(StateKey("keyvault/document", old.name), value: nil, expires: nil)
        await #expect(throws: KeyError.self) { try await cluster.start() }
        #expect(try await cluster.store.list("keyvault/document", after: nil, limit: 10).allSatisfy { $0.value == [] })
    }

    @Test(
        "No token is signed by a key that is missing in a key set which a server serves as a present one, or which a backend keeps",
        arguments: [1, 2, 3, 4] as [UInt64])
    func neverUnknown(seed: UInt64) async throws {
        var random = Numbers(seed)
        let cluster = Cluster()
        // Versions with another kind of key run at the same time.
        let kinds = seed == 4 ? ["ES256", "RS256", "ES256"] : ["ES256", "ES256", "ES256"]
        var nodes: [Cluster.Node?] = []
        for kind in kinds { nodes.append(try await cluster.start(kind)) }
        var fetched: [(at: Instant, kids: Set<String>)] = []
        var (signed, changes, silent, verified): (Set<String>, Int, Int, Int) = ([], 0, 0, 0)
        for step in 0..<150 {
            let index = random.next(below: 3)
            switch random.next(below: 8) {
            case 0: nodes[index]?.vault.isFailing.toggle()
            case 1:
                // Its vault may be away: then it does not start.
                let isAway = nodes[index]?.vault.isFailing ?? false
                if !isAway { nodes[index] = try? await cluster.start(kinds[index]) }
            case 2 where step % 3 == 0:
                if let node = nodes.compactMap(\.self).first(where: { !$0.vault.isFailing }),
                    (try? await cluster.prepare(on: node)) != nil
                {
                    changes += 1
                }
            default:
                let times = [1, 5, 240, 290, 600, 3600, 3600, 10_800]
                cluster.clock.advance(by: .seconds(times[random.next(below: times.count)]))
            }
            // Most servers ask in time.
            for node in nodes.compactMap(\.self) where random.next(below: 10) > 0 { await node.follow() }
            let now = cluster.clock.now
            fetched.removeAll { $0.at + KeyAging.backendCacheTime <= now }
            var sets = fetched.map(\.kids)
            for (index, node) in nodes.enumerated() {
                guard let node, let kids = await node.published() else { continue }
                // A key set that may be kept for a minute only lasts no longer than the server's answers.
                guard let lifetime = await node.keySetLifetime(), lifetime > .seconds(60) else {
                    silent += 1
                    continue
                }
                sets.append(kids)
                if index == random.next(below: 3) { fetched.append((now, kids)) }
            }
            for node in nodes.compactMap(\.self) {
                guard let token = await node.wholeToken(), let kid = Cluster.Node.key(of: token) else { continue }
                signed.insert(kid)
                #expect(sets.allSatisfy { $0.contains(kid) }, "step \(step)")
                for other in nodes.compactMap(\.self) {
                    let status = await other.verification(of: token)
                    #expect(status == nil || status == .unavailable, "step \(step)")
                    verified += status == nil ? 1 : 0
                }
            }
        }
        // The test has seen what it is about.
        #expect(signed.count > 1)
        #expect(changes > 1)
        #expect(silent > 0)
        #expect(verified > 100)
    }

    private struct Numbers {
        var state: UInt64

        init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 }

        mutating func next(below limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
    }
}

/// Servers with one state store and one clock.
struct Cluster: Sendable {
    let clock = ManualClock()
    let store: MemoryStore

    init() { store = MemoryStore(clock: clock.hostClock) }

    /// One server, whose way to its vault may fail.
    struct Node: Sendable {
        let keys: OpenKeys
        let engine: Engine
        let vault: FailingStore

        func follow() async { await keys.follow(for: engine, logger: TestService.silent) }

        func exchange() async -> Reply {
            await engine.handle(
                Call(
                    "exchangeDebugToken", resource: TestService.app,
                    body: ["debugToken": .string(TestService.debugToken)], peer: "192.0.2.1"))
        }

        /// A new token; nil when none is issued.
        func wholeToken() async -> String? {
            try? await exchange().result.get()["token"]?.string
        }

        /// The key of a new token; nil when none is issued.
        func token() async -> String? { await wholeToken().flatMap { Self.key(of: $0) } }

        static func key(of token: String) -> String? {
            guard let head = token.split(separator: ".").first.flatMap({ Base64.decode($0) }) else { return nil }
            return try? JSON.parse(head)["kid"]?.string
        }

        /// Why a request with a token is not let through; nil when it is.
        func verification(of token: String) async -> StatusCode? {
            let protection = await engine.protect(
                ProtectedRequest(
                    project: "example-project", service: "orders.example.com", token: token, peer: "192.0.2.1"))
            if case .failure(let failure) = protection.result { return failure.status }
            return nil
        }

        /// How long the key set may be kept.
        func keySetLifetime() async -> Duration? {
            await engine.handle(Call("jwks", resource: "")).lifetime
        }

        /// The identifiers of the key set; nil when it is not served.
        func published() async -> Set<String>? {
            guard let set = try? await engine.handle(Call("jwks", resource: "")).result.get() else { return nil }
            return Set(set["keys"]?.array?.compactMap { $0["kid"]?.string } ?? [])
        }
    }

    /// Starts a server as `assay serve` does.
    func start(_ algorithm: String = "ES256") async throws -> Node {
        let registry = try Registry([.provider(DebugProvider.self)])
        let vault = FailingStore(store)
        let host = StorageHost(
            clock: clock.hostClock, secrets: SecretSource { _ in Array(String(repeating: "a5", count: 32).utf8) },
            logger: TestService.silent, state: vault)
        let keys = try await registry.openKeys("state:env:MASTER", host: host)
        keys.store.allowFirstKeys()
        try await UsedKeys.check(keys.store, in: store, now: clock.now)
        let policy = """
            tokens: {algorithm: \(algorithm)}
            projects:
              - number: 1234567890
                id: example-project
                services: {orders.example.com: {enforcement: ENFORCED, accept_development: true}}
                apps:
                  - id: 1:1234567890:ios:321abc456def7890
                    providers:
                      debug:
                        tokens: [{name: local, sha256: \(Hex.encode(DebugToken.hash(of: TestService.debugToken)))}]
            """
        let (clock, store) = (clock.hostClock, store)
        let engine = try await OwnThread.run {
            try Engine(
                registry: registry, policies: .load([PolicyFile(name: "test.yaml", text: policy)]), keys: keys.store,
                host: PluginHost(clock: clock, store: store, logger: TestService.silent), sink: RecordingSink())
        }
        return Node(keys: keys, engine: engine, vault: vault)
    }

    /// Prepares a signing key that begins by itself.
    func prepare(on node: Node) async throws -> String {
        let now = clock.now
        return try await node.keys.store.perform { (keys) throws(KeyError) in
            try keys.prepareSigningKey(automatic: true, now: now).id
        }
    }
}
