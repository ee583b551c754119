import AssayCore
import AssayKit
import Foundation
import Synchronization
import Testing

@testable import AssayRedis

@Suite(.serialized, .enabled(if: ServerProgram.isWanted, ServerProgram.reason)) struct FaultTests {
    private typealias Operation = @Sendable (RedisStore, StateKey) async throws -> Void

    private static let operations: [(String, Operation)] = [
        ("insert", { store, key in _ = try await store.insert(key, value: [1], expires: nil) }),
        ("advance", { store, key in _ = try await store.advance(key, to: 7) }),
        ("put", { store, key in try await store.put(key, value: [2], expires: nil) }),
        ("get", { store, key in _ = try await store.get(key) }),
        ("list", { store, key in _ = try await store.list(key.space, after: nil, limit: 9) }),
        (
            "commit",
            { store, key in
                _ = try await store.commit([
                    .insert(key, value: [3], expires: nil, isListed: true), .advance(key, to: 9),
                ])
            }
        ),
    ]

    @Test("no answer is taken for that to another command when answers come twice")
    func repeatedAnswers() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let proxy = try await CuttingProxy(to: server.socket)
        defer { proxy.close() }
        let store = try await open("//127.0.0.1:\(proxy.port)#timeout=300")
        for name in ["a", "b"] { try await store.put(StateKey("values", name), value: Array(name.utf8), expires: nil) }
        proxy.repeat(true)
        var (failed, made): (Int, [StateKey: Int]) = (0, [:])
        var wrong: [String] = []
        for number in 0..<200 where failed < 60 {
            let key = StateKey("used", "\(number)")
            for _ in 0..<2 {
                do {
                    if try await store.insert(key, value: [], expires: nil) { made[key, default: 0] += 1 }
                } catch {
                    failed += 1
                }
            }
            for name in ["a", "b", "absent"] {
                do {
                    let value = try await store.get(StateKey("values", name))
                    if value != (name == "absent" ? nil : Array(name.utf8)) { wrong.append(name) }
                } catch {
                    failed += 1
                }
            }
        }
        proxy.repeat(false)
        #expect(failed > 0, "nothing was repeated")
        #expect(wrong == [])
        #expect(made.filter { $0.value > 1 }.isEmpty, "made twice")
        let works = await eventually {
            try await store.put(StateKey("used", "after"), value: [1], expires: nil)
            return try await store.get(StateKey("used", "after")) == [1]
        }
        #expect(works)
        for key in made.keys { #expect(try await store.get(key) == []) }
        await store.close()
    }

    @Test("a connection that is lost anywhere in an operation makes it throw, and the next ones work")
    func lostConnections() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let proxy = try await CuttingProxy(to: server.socket)
        defer { proxy.close() }
        let store = try await open("//127.0.0.1:\(proxy.port)")
        for (name, operation) in Self.operations {
            for (direction, counts) in [(CuttingProxy.Direction.toServer, [0, 1, 40, 150]), (.toClient, [0, 1, 3])] {
                for count in counts {
                    // Both connections are there before one is cut, or the cut would meet a greeting.
                    try await proxy.waitForEnds()
                    let isWhole = await eventually {
                        try await store.put(StateKey("lost", "x"), value: nil, expires: nil)
                        return try await store.get(StateKey("lost", "x")) == nil
                    }
                    #expect(isWhole)
                    let key = StateKey("lost", "\(name)-\(direction)-\(count)")
                    proxy.cut(direction, after: count)
                    let failure = await error { try await operation(store, key) }
                    #expect(proxy.isCut)
                    // The effect is unknown where something was sent, and so it must not look like success.
                    #expect(failure?.code == .connectionLost, "\(name) \(direction) after \(count): \(failure as Any)")
                    let works = await eventually {
                        try await operation(store, key)
                        return true
                    }
                    #expect(works)
                }
            }
        }
        // Whatever was made, was made whole.
        for count in [0, 1, 3] {
            #expect(try await store.get(StateKey("lost", "commit-toClient-\(count)")) == [3])
            #expect(try await store.advance(StateKey("lost", "commit-toClient-\(count)"), to: 9) == false)
        }
        await store.close()
    }

    @Test("a server that stands still makes operations throw within their time limit, and is used again later")
    func stalled() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let store = try await open(server.location("timeout=300"))
        server.kill(SIGSTOP)
        let begin = ContinuousClock.now
        let codes = await withTaskGroup(of: RedisStoreError.Code?.self) { group in
            for (_, operation) in Self.operations {
                group.addTask { await code { try await operation(store, StateKey("stalled", "k")) } }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ContinuousClock.now - begin < .seconds(1))
        #expect(codes.allSatisfy { $0 == .timedOut })
        #expect(store.blockingReason == nil)
        server.kill(SIGCONT)
        #expect(await eventually { try await store.get(StateKey("stalled", "new")) == nil })
        await store.close()
    }

    private final class Made: Sendable {
        let names = Mutex<[String]>([])
    }

    @Test(
        "nothing that was acknowledged is lost by kill -9, and the store continues without a restart",
        arguments: ServerProgram.all)
    func killed(_ program: ServerProgram) async throws {
        let server = try TestServer(program)
        let store = try await open(server.location())
        let made = Made()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for round in 0..<10_000 {
                        let name = "\(task)-\(round)"
                        guard (try? await store.insert(StateKey("s", name), value: [], expires: nil)) == true else {
                            return
                        }
                        made.names.withLock { $0.append(name) }
                    }
                }
            }
            group.addTask {
                _ = await eventually { made.names.withLock { $0.count > 500 } }
                server.kill()
            }
        }
        let names = made.names.withLock { $0 }
        #expect(names.count > 500)
        #expect(await code { _ = try await store.get(StateKey("s", "x")) } != nil)
        try server.start()
        #expect(await eventually { try await store.get(StateKey("s", "x")) == nil })
        // The connection for writes is another one.
        #expect(await eventually { try await store.advance(StateKey("s", "started"), to: 1) })
        #expect(store.blockingReason == nil)
        for name in names.suffix(200) {
            #expect(try await store.insert(StateKey("s", name), value: [], expires: nil) == false)
        }
        await store.close()
    }

    @Test("a server that comes back empty blocks the service until the known data is there again")
    func restartedEmpty() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let store = try await open(server.location())
        #expect(try await store.insert(StateKey("s", "used"), value: [], expires: nil))
        server.kill()
        let (data, away) = ("\(server.folder)/appendonlydir", "\(server.folder)-away")
        try FileManager.default.moveItem(atPath: data, toPath: away)
        try server.start()
        #expect(await eventually { store.blockingReason != nil })
        let isRefused = await eventually {
            await code { _ = try await store.insert(StateKey("s", "used"), value: [], expires: nil) } == .replaced
        }
        #expect(isRefused)
        server.kill()
        try FileManager.default.removeItem(atPath: data)
        try FileManager.default.moveItem(atPath: away, toPath: data)
        try server.start()
        #expect(await eventually { store.blockingReason == nil })
        #expect(await eventually { try await store.insert(StateKey("s", "used"), value: [], expires: nil) == false })
        await store.close()
    }

    @Test(
        "data that is deleted while the store is connected is noticed by the next operation, and without one by the watch"
    )
    func flushed() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        for byWatch in [false, true] {
            let store = try await open(server.location())
            try server.ask("FLUSHALL")
            let found = await code {
                if byWatch { try await store.watch() } else { _ = try await store.advance(StateKey("s", "k"), to: 1) }
            }
            #expect(found == .replaced)
            #expect(store.blockingReason?.contains("the data in Redis") == true)
            #expect(try server.ask("DBSIZE") == "0\n")
            await store.close()
        }
    }

    @Test("a server that has forgotten its scripts is given them again")
    func forgottenScripts() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let store = try await open(server.location())
        try server.ask("SCRIPT", "FLUSH")
        #expect(try await store.insert(StateKey("s", "k"), value: [1], expires: nil))
        #expect(try await store.get(StateKey("s", "k")) == [1])
        #expect(try await store.insert(StateKey("s", "k"), value: [1], expires: nil) == false)
        await store.close()
    }

    @Test("errors of the server have codes, and end when their cause ends")
    func serverErrors() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let store = try await open(server.location())
        let insert = { (name: String) in _ = try await store.insert(StateKey("s", name), value: [], expires: nil) }
        try server.ask("CONFIG", "SET", "maxmemory", "1")
        #expect(await code { try await insert("a") } == .outOfMemory)
        try server.ask("CONFIG", "SET", "maxmemory", "0")
        #expect(await code { try await insert("a") } == nil)
        try server.ask("CONFIG", "SET", "min-replicas-to-write", "1")
        #expect(await code { try await insert("b") } == .readOnly)
        try server.ask("CONFIG", "SET", "min-replicas-to-write", "0")
        #expect(
            await eventually {
                try await insert("b"); return true
            })
        try server.ask("REPLICAOF", "127.0.0.1", "1")
        #expect(await code { try await insert("c") } != nil)
        #expect(await eventually { await code { try await insert("c") } == .notMaster })
        try server.ask("REPLICAOF", "NO", "ONE")
        #expect(
            await eventually {
                try await insert("c"); return true
            })
        try server.ask("SET", "assay:e:s:{foreign}", "x")
        // The connection for reads was given up as well.
        #expect(await eventually { await code { _ = try await store.get(StateKey("s", "foreign")) } == .badAnswer })
        await store.close()
    }

    @Test(
        "durability that is switched off on a live server is noticed at open connections, and its return as well",
        arguments: ServerProgram.all)
    func durabilityWhileOpen(_ program: ServerProgram) async throws {
        let server = try TestServer(program)
        let store = try await open(server.location())
        let relaxed = try await open(server.location("durability=relaxed", "prefix=relaxed"))
        for (setting, off, on) in [
            ("appendonly", "no", "yes"), ("maxmemory-policy", "allkeys-lru", "noeviction"),
            ("no-appendfsync-on-rewrite", "yes", "no"),
        ] {
            #expect(try await store.insert(StateKey("s", "before-\(setting)"), value: [], expires: nil))
            #expect(relaxed.caution == nil)
            try server.ask("CONFIG", "SET", setting, off)
            // What `run()` does every few seconds.
            _ = await error { try await store.watch() }
            _ = await error { try await relaxed.watch() }
            let isRefused = await eventually {
                let write = await code {
                    _ = try await store.insert(StateKey("s", "during-\(setting)"), value: [], expires: nil)
                }
                let read = await code { _ = try await store.get(StateKey("s", "x")) }
                return write == .mayForget && read == .mayForget
            }
            #expect(isRefused, "\(setting)")
            #expect(await eventually { relaxed.caution?.contains(setting) == true })
            try server.ask("CONFIG", "SET", setting, on)
            #expect(
                await eventually { try await store.insert(StateKey("s", "after-\(setting)"), value: [], expires: nil) })
            _ = await error { try await relaxed.watch() }
            #expect(await eventually { relaxed.caution == nil })
        }
        await store.close()
        await relaxed.close()
    }

    @Test("a review that is asked for while a connection is made is made afterwards: what verified it may be older")
    func reviewWhileConnecting() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let connector = try Connector(
            try RedisLocation(server.location(), isSecure: false), identity: Identity(), secrets: .system)
        let made = Mutex<Link?>(nil)
        let reviews = Mutex(0)
        let link = Link(
            "link", writes: false, timeLimit: connector.limit,
            connect: { () async throws(RedisStoreError) in
                let session = try await connector.session()
                made.withLock { $0 }?.review()
                return session
            },
            review: { _ in
                reviews.withLock { $0 += 1 }
                return true
            })
        made.withLock { $0 = link }
        link.start()
        #expect(await eventually { reviews.withLock { $0 } == 1 })
        made.withLock { $0 = nil }
        await link.close()
    }

    @Test("an outage is not failed work: it leaves nothing to wait for when the server is back")
    func workDuringOutage() async throws {
        let server = try TestServer(try #require(ServerProgram.any))
        let store = try await open(server.location())
        let work = Task { try await store.run() }
        server.kill()
        #expect(await eventually { await code { _ = try await store.get(StateKey("s", "x")) } != nil })
        #expect(await error { try await store.watch() }?.isOutage == true)
        try server.start()
        #expect(await eventually { try await store.get(StateKey("s", "x")) == nil })
        work.cancel()
        await #expect(throws: CancellationError.self) { try await work.value }
        await store.close()
    }
}
