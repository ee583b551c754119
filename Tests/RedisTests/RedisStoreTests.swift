import AssayCore
import AssayKit
import AssayTesting
import Foundation
import Synchronization
import Testing

@testable import AssayRedis

@Suite(.serialized, .enabled(if: ServerProgram.isWanted, ServerProgram.reason)) struct RedisStoreTests {
    @Test("the store keeps the promises of the contract", arguments: ServerProgram.all)
    func contract(_ program: ServerProgram) async throws {
        let server = try TestServer(program)
        let count = Mutex(0)
        let suite = StateStoreSuite(
            makeStore: { clock in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return try await open(server.location("prefix=p\(number)"), clock: clock)
            },
            reopen: { store, clock in
                await (store as? RedisStore)?.close()
                return try await open(server.location("prefix=p\(count.withLock { $0 })"), clock: clock)
            }, removal: "the server removes by its own clock", timeLimit: .seconds(900))
        let failures = await suite.run()
        #expect(failures == [])
    }

    @Test("of 1,000 insertions of one key over three stores one is made, and a commit is made whole or not at all")
    func oneWinner() async throws {
        let program = try #require(ServerProgram.any, ServerProgram.missing)
        let server = try TestServer(program)
        let stores = [
            try await open(server.location()), try await open(server.location()), try await open(server.location()),
        ]
        let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
            for task in 0..<1000 {
                group.addTask {
                    // A counter of its own, which must rise for the winner alone.
                    try await stores[task % 3].commit([
                        .advance(StateKey("own", "\(task)"), to: 1),
                        .insert(StateKey("once", "k"), value: [], expires: nil, isListed: false),
                    ])
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(winners.count { $0 == nil } == 1)
        #expect(winners.allSatisfy { $0 == nil || $0 == 1 })
        let risen = try server.ask("--raw", "EVAL", "return #redis.call('KEYS', 'assay:c:own:*')", "0")
        #expect(risen == "1\n")
        for store in stores { await store.close() }
    }

    @Test("what is not to be listed is in no index, and lists leave names out whose entries are gone")
    func indexes() async throws {
        let program = try #require(ServerProgram.any, ServerProgram.missing)
        let server = try TestServer(program)
        let store = try await open(server.location())
        for (name, isListed) in [("a", true), ("b", false), ("c", true)] {
            _ = try await store.insert(StateKey("s", name), value: [1], expires: nil, isListed: isListed)
        }
        #expect(try server.ask("ZRANGE", "assay:l:s", "0", "-1") == "a\nc\n")
        try server.ask("DEL", "assay:e:s:{a}")
        #expect(try await store.list("s", after: nil, limit: 9).map(\.name) == ["c"])
        #expect(try server.ask("ZRANGE", "assay:l:s", "0", "-1") == "c\n")
        try server.ask("DEL", "assay:e:s:{c}")
        try await store.sweep()
        #expect(try server.ask("ZCARD", "assay:l:s") == "0\n")
        await store.close()
    }

    @Test("pages of large values are complete, although an answer has a bound")
    func largePages() async throws {
        let program = try #require(ServerProgram.any, ServerProgram.missing)
        let server = try TestServer(program)
        let store = try await open(server.location())
        let value = [UInt8](repeating: 7, count: 700_000)
        for index in 10..<20 { try await store.put(StateKey("s", "\(index)"), value: value, expires: nil) }
        for index in 100..<900 { try await store.put(StateKey("t", "\(index)"), value: [1], expires: nil) }
        #expect(try await store.list("s", after: "11", limit: 100).map(\.name) == (12..<20).map { "\($0)" })
        #expect(try await store.list("t", after: nil, limit: 10_000).map(\.name) == (100..<900).map { "\($0)" })
        #expect(try await store.list("t", after: nil, limit: 300).map(\.name) == (100..<400).map { "\($0)" })
        await store.close()
    }

    @Test("what the server has removed by its own clock cannot be inserted once more by a clock that is behind")
    func removedByTheServer() async throws {
        let program = try #require(ServerProgram.any, ServerProgram.missing)
        let server = try TestServer(program)
        let time = Mutex(HostClock.system.now)
        let clock = HostClock(now: { time.withLock { $0 } }, uptime: { .zero }, sleep: { _ in })
        let store = try await open(server.location(), clock: clock, margin: .milliseconds(100))
        let key = StateKey("s", "k")
        let expires = time.withLock { $0 } + .milliseconds(100)
        #expect(try await store.insert(key, value: [1], expires: expires))
        let isGone = await eventually { try server.ask("EXISTS", "assay:e:s:{k}") == "0\n" }
        #expect(isGone)
        // The clock stands still: for this store the entry would not have expired.
        #expect(try await store.insert(key, value: [1], expires: expires) == false)
        #expect(try await store.insert(StateKey("s", "other"), value: [1], expires: expires + .milliseconds(60_000)))
        // What a machine with a slow clock puts is kept, and for as long as it asked.
        time.withLock { $0 = $0 - .seconds(3600) }
        let late = time.withLock { $0 } + .seconds(60)
        try await store.put(key, value: [2], expires: late)
        #expect(try await store.get(key) == [2])
        let left = try #require(Int(try server.ask("PTTL", "assay:e:s:{k}").dropLast()))
        #expect((55_000...61_000).contains(left))
        try await store.watch()
        #expect(store.caution?.contains("clock") == true)
        await store.close()
    }

    @Test("machines whose clocks differ agree on what is used, within the margin")
    func skewedClocks() async throws {
        let program = try #require(ServerProgram.any, ServerProgram.missing)
        let server = try TestServer(program)
        func store(_ skew: Duration) async throws -> RedisStore {
            let clock = HostClock(now: { HostClock.system.now + skew }, uptime: { .zero }, sleep: { _ in })
            return try await open(server.location(), clock: clock, margin: .seconds(600))
        }
        let (slow, fast) = (try await store(.seconds(-300)), try await store(.seconds(300)))
        let expires = HostClock.system.now + .seconds(360)
        #expect(try await fast.insert(StateKey("s", "k"), value: [], expires: expires))
        #expect(try await slow.insert(StateKey("s", "k"), value: [], expires: expires) == false)
        // Already expired for the fast one, and for five minutes still valid for the slow one.
        let soon = HostClock.system.now - .seconds(60)
        #expect(try await slow.insert(StateKey("s", "l"), value: [], expires: soon))
        #expect(try await fast.get(StateKey("s", "l")) == nil)
        #expect(try await fast.insert(StateKey("s", "l"), value: [], expires: soon) == false)
        #expect(try await slow.insert(StateKey("s", "l"), value: [], expires: soon) == false)
        await slow.close()
        await fast.close()
    }

    @Test("with one flush a second, a write is acknowledged after the flush", .enabled(if: ServerProgram.valkey != nil))
    func waitsForTheDisk() async throws {
        let program = try #require(ServerProgram.valkey)
        let server = try TestServer(program, ["--appendonly", "yes", "--appendfsync", "everysec"])
        let store = try await open(server.location("timeout=5000"))
        #expect(store.caution == nil)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in 0..<100 {
                group.addTask { try await store.insert(StateKey("s", "\(task)"), value: [], expires: nil) }
            }
            for try await isMade in group { #expect(isMade) }
        }
        #expect(try server.ask("INFO", "commandstats").contains("cmdstat_waitaof"))
        await store.close()
    }

    @Test("more than may wait is refused as overload, and nothing of it is made")
    func overload() async throws {
        let program = try #require(ServerProgram.any, ServerProgram.missing)
        let server = try TestServer(program)
        let store = try await open(server.location("timeout=300"))
        server.kill(SIGSTOP)
        let codes = await withTaskGroup(of: RedisStoreError.Code?.self) { group in
            for task in 0..<100 {
                group.addTask {
                    await code {
                        let value = [UInt8](repeating: 1, count: 1 << 20)
                        _ = try await store.insert(StateKey("s", "\(task)"), value: value, expires: nil)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        server.kill(SIGCONT)
        #expect(codes.contains(.overloaded))
        #expect(codes.contains(.timedOut))
        #expect(codes.count { $0 == .timedOut } <= 64)
        await store.close()
    }
}
